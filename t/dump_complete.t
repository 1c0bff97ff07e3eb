#!/usr/bin/perl

# A module of a dump without a debug id: the executable that its code id finds has the debug
# id, and names the PDB, so frames have functions of the PDB.  The names are those of the
# symbol file that Breakpad's dump_syms made of it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Cpanel::JSON::XS ();
use File::Path qw(make_path);
use SymDump qw(minidump);
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file);

my $windows = need_fixtures('windows');
my ($BASE, $NAME) = (0x40000000, 'CrashWithException');
my $t = SymLoader->new;
my $symbols = $t->dir . '/symbols';

my $sym = read_file("$windows/$NAME.pdb.sym");
my ($id) = $sym =~ /^MODULE windows x86_64 (\w+) / or die;
my ($offset, $main) = $sym =~ /^FUNC (\w+) \w+ \w+ (main\b.*?)\r?$/m or die;

# The code id is the file's time and size.
my $exe = read_file("$windows/$NAME.exe");
my ($pdb) = $exe =~ /RSDS.{20}([^\0]+)\0/s or die;
my $pe = unpack 'V', substr $exe, 60;
my ($time, $size) = map { unpack 'V', substr $exe, $pe + $_ } 8, 24 + 56;
my $code = sprintf '%08X%x', $time, $size;

for ("$NAME.exe/$code/$NAME.exe", "$NAME.pdb/$id/$NAME.pdb") {
    my ($file) = m{([^/]+)$};
    make_path("$symbols/$_" =~ s{/[^/]+$}{}r);
    symlink "$windows/$file", "$symbols/$_" or die "$_: $!";
}

sub walk {
    my (%more) = @_;
    my $dump = $t->file('a.dmp', minidump(os => 'windows',
        registers => { rip => $BASE + hex $offset, rsp => 0x20000 }, stack => pack('Q<16', (0) x 16),
        modules => [{ at => $BASE, size => $size, name => "C:\\$NAME.exe", time => $time, %more }]));
    my $r = $t->run({ no_store => 1 }, 'walk', '--format=json', "--symbols=native:$symbols", $dump);
    is($r->{code}, 0, 'the dump is walked') or diag $r->{err};
    return Cpanel::JSON::XS->new->decode($r->{out});
}

my $answer = walk();
my ($module) = @{ $answer->{modules} };
is($module->{code_id}, lc $code, 'the dump has the code id');
is(uc($module->{debug_id} =~ s/-//gr), $id, '... and the executable has the debug id');
is($module->{debug_file}, $pdb, '... and names the PDB, with its folders');
is("$module->{unwind_status} $module->{debug_status}", 'found found', '... both are found');
is($answer->{stacktraces}[0]{frames}[0]{function} =~ s/[(][)]$//r, $main, '... and so is the function');

# The dump has the id, but no name.
my $record = 'RSDS' . pack('H*', $exe =~ /RSDS(.{20})/s ? unpack 'H*', $1 : '') . "\0";
($module) = @{ walk(codeview => $record)->{modules} };
is(uc($module->{debug_id} =~ s/-//gr) . " $module->{debug_file}", "$id $pdb", 'a name alone is completed as well');

done_testing;
