#!/usr/bin/perl

# A folder is searched for all files that name code: symbol files by their
# endings; debug files, executables, libraries and dSYM bundles by their first
# bytes. Other files in it are counted and are not failures; nothing is loaded
# twice, and nothing is skipped silently.

use strict;
use warnings;

use File::Path qw(make_path);
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLoader qw(read_file sym_text);
use SymServe;

my $elf = fixtures('elf');
# llvm-dwarfdump --uuid, eu-readelf -n
my $apple = 'crash/67E9247C814E392BA027DBDE6748FCBF0';
my $linux = 'C0BCC3F19827FE653058404B2831D9E60';

# --- a dSYM bundle is a folder ---

my ($t, $r);
SKIP: {
    my $macho = fixtures('macho');
    $t = SymLoader->new;
    $r = $t->run('load', "$macho/crash.dSYM");
    is($r->{code}, 0, 'a dSYM bundle');
    is_deeply([ $t->modules ], [$apple], '... is the file in it');
    like($r->{out}, qr/^1 file, 1 module stored, .*, 2 of other kinds, 0 failed$/m,
         '... its list and its text are counted');

    # the binary next to it has the same id, and worse symbols
    $t = SymLoader->new;
    $r = $t->run('load', $macho);
    is($r->{code}, 0, 'a folder with binaries and bundles');
    is_deeply([ $t->modules ],
              [ (map { "Example/${_}0" =~ tr/-//dr }
                   qw(2556F151-5A40-3847-BE6C-E2C1B5BE4DF8
                      3B4566E4-491B-3DCF-94F5-AE51F624DD87)), $apple ],
              '... each slice once');
    is((SymLoader::json_lines($t->run('ls', '--json')->{out}))[-1]{quality},
       'lines and inlines', '... those of the bundle, which has lines')
        or diag($t->run('ls')->{out});
}

# --- a tree of ELF files, like /usr/lib/debug and /usr/lib ---

$t = SymLoader->new;
my $tree = $t->dir . '/tree';
make_path("$tree/.build-id/c0", "$tree/bin", "$tree/obj");
my $debug = read_file("$elf/crash.debug");
my $object = read_file("$elf/crash");
substr $object, 16, 2, pack 'v', 1;                 # e_type: ET_REL
my $core = substr($object, 0, 16) . pack('v', 4) . substr $object, 18;
$t->file('tree/bin/crash', read_file("$elf/crash"));
$t->file('tree/bin/run.sh', "#!/bin/sh\n");
$t->file('tree/obj/a.o', $object);
$t->file('tree/obj/core', $core);
$t->file('tree/obj/none', '');
$t->file('tree/text.sym', sym_text('text.so', '0' x 32 . 'A'));
$t->file('tree/bin/crash-1.0.debug', $debug);
symlink '../../bin/crash-1.0.debug', "$tree/.build-id/c0/bcc3.debug" or die;
symlink 'crash', "$tree/bin/crash-latest" or die;
symlink $elf . '/crash.debug', "$tree/bin/far.debug" or die;

$r = $t->run('load', $tree);
is($r->{code}, 0, 'a tree of ELF files');
is_deeply([ $t->modules ],
          [ "far/$linux", 'text.so/' . '0' x 32 . 'A' ], '... is searched');
like($r->{out}, qr/^4 files, [2-4] modules stored, .*, 4 of other kinds, 0 failed$/m,
     '... links into it add nothing twice, and the rest is counted');
unlike($r->{out}, qr/bcc3|latest/, '... by its real name');

# --- files without symbols ---

# No DWARF, no symbols; only the build id is left.
sub stripped {
    my $path = $_[0]->dir . '/' . $_[1];
    system('strip', '--strip-all', '--remove-section=.dynsym',
           '--remove-section=.gnu_debugdata', '-o', $path, "$elf/crash") == 0
        or die;
    return $path;
}

for my $server (0, 1) {
    $t = $server ? SymServe->new->serve('--jobs', 1) : SymLoader->new;
    my $who = $server ? 'by the daemon: ' : '';
    make_path($t->dir . '/tree');
    $t->file('tree/text.sym', sym_text('text.so', '0' x 32 . 'A'));
    my $path = stripped($t, 'tree/stripped');

    $r = $t->run('load', $t->dir . '/tree');
    is($r->{code}, 0, "${who}a stripped binary in a folder is no failure");
    like($r->{out},
         qr/^\S+stripped: passed over: unsupported: .*the file was stripped$/m,
         '... with the reason');
    like($r->{out}, qr/^2 files, 1 module stored, .*, 1 without symbols, 0 failed$/m,
         '... and counted');

    $r = $t->run('load', $path);
    is($r->{code}, 1, "${who}who is asked to load it says that it cannot");
    like($r->{err}, qr/the file was stripped/, '... and why');

    # a broken file is a failure, wherever it is
    $t->file('tree/cut.debug', substr $debug, 0, 40);
    $r = $t->run('load', $t->dir . '/tree');
    is($r->{code}, 1, "${who}a broken file in a folder is a failure");
    like($r->{err}, qr/cut\.debug: /, '... it is named');
}

done_testing();
