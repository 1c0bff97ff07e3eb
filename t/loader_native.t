#!/usr/bin/perl

# Debug files as compilers and linkers write them are loaded without a .sym in
# between, and answer like LLVM's symbolizer.  A file that is truncated, of a
# kind without addresses, or without a name for anything is an error with a
# reason.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures);
use SymLlvm qw(llvm_frames loader_frames frame_differences);
use SymLoader qw(json_lines read_file);

my $t = SymLoader->new;
my $elf = fixtures('elf');

# eu-readelf -n crash: the first 16 bytes of the build id as a GUID, age 0
my $id = 'C0BCC3F19827FE653058404B2831D9E60';
my $base = 0x400000;    # readelf -l crash: the first LOAD

# --- a debug file, plain and with packed sections ---

my @functions = map { /^([0-9a-f]+) [Tt] / ? hex($1) - $base : () }
    qx(nm $elf/crash);
cmp_ok(scalar(@functions), '>', 100, 'functions to look up');

for my $file ('crash.debug', 'crash.debug-zlib', 'crash.debug-zstd') {
    my $name = $file eq 'crash.debug' ? 'crash' : $file;

    my $r = $t->run('load', "$elf/$file");
    is($r->{code}, 0, "$file: loaded");
    like($r->{out}, qr{^\S+: \Q$name/$id\E: lines and inlines}m,
         '... under its file\'s name and its build id\'s id');

    my @addr = map { ($_, $_ + 5) } @functions;
    my @theirs = llvm_frames($t, "$elf/$file", '', map { $_ + $base } @addr);
    my @known = grep { $theirs[$_][0][0] ne '??' } 0 .. $#addr;
    my @ours = loader_frames($t, "$name/$id", @addr);
    my @bad = frame_differences([ @ours[@known] ], [ @theirs[@known] ]);
    cmp_ok(scalar(@known), '>', 100, '... addresses that LLVM knows');
    is(scalar(@bad), 0, '... all answered as LLVM does')
        or diag(join "\n", @bad[0 .. ($#bad < 9 ? $#bad : 9)]);
}

# --- symbol tables only ---

$t = SymLoader->new;
my $alone = $t->file('crash', read_file("$elf/crash")); # its debug file is not
my $r = $t->run('load', $alone);
is($r->{code}, 0, 'an executable without debug information: loaded');
like($r->{out}, qr/: publics,/, '... its symbols');
my ($first) = qx(nm $elf/crash) =~ /^([0-9a-f]+) T ConvertUTF8toUTF16$/m;
$r = $t->run('lookup', "crash/$id", '--json',
             sprintf '%x', hex($first) - $base + 3);
is((json_lines($r->{out}))[0]{function}, 'ConvertUTF8toUTF16',
   '... name an address');

# A symbol ends where its size says: padding after it has no name.
my @sized = sort { $a->[0] <=> $b->[0] }
    map { /^([0-9a-f]+) ([0-9a-f]+) [Tt] / ? [ hex($1), hex($2) ] : () }
    qx(nm -S $elf/crash);
my @gaps = map { $sized[$_][0] + $sized[$_][1] - $base }
    grep { $sized[$_][0] + $sized[$_][1] < $sized[ $_ + 1 ][0] } 0 .. $#sized - 1;
my @named = llvm_frames($t, "$elf/crash", '', map { $_ + $base } @gaps);
my @behind = map { $named[$_][0][0] eq '??' ? $gaps[$_] : () } 0 .. $#gaps;
cmp_ok(scalar(@behind), '>', 5, 'addresses after symbols');
is_deeply([ grep { defined $_->[0][0] }
            loader_frames($t, "crash/$id", @behind) ],
          [], '... have no name');

# better symbols replace these, but never vice versa
$t->run('load', "$elf/crash.debug");
like($t->run('load', $alone)->{out}, qr/not stored/,
     'symbols do not replace lines and inlines');

# --- packed as a whole, and in a folder ---

$t = SymLoader->new;
my $text = read_file("$elf/crash.debug");
mkdir $t->dir . "/$_" for 'tree', 'tree/sub';
$t->file('tree/sub/crash.debug', $text);
system('gzip', '-k', $t->dir . '/tree/sub/crash.debug') == 0 or die;
is($t->run('load', $t->dir . '/tree')->{code}, 0, 'a folder of .debug files');
is_deeply([ $t->modules ], ["crash/$id"], '... is searched');
$t = SymLoader->new;

# its name is that of the file in it
for my $packer ('gzip', 'zstd -q', 'xz -0') {
    my $name = (split / /, $packer)[0];
    my $ending = { gzip => 'gz', zstd => 'zst', xz => 'xz' }->{$name};
    my $each = SymLoader->new;
    my $file = $each->dir . "/other.debug.$ending";

    system("$packer -c '$elf/crash.debug' >'$file'") == 0 or die $packer;
    is($each->run('load', $file)->{code}, 0, "other.debug.$ending");
    is_deeply([ $each->modules ], ["other/$id"], '... is other');
    like($each->run({ no_store => 1 }, 'dump', $file)->{out},
         qr/\AMODULE \S+ \S+ \S+ other$/m, '... also where it is dumped');
}

my $packed = qx(gzip -c $elf/crash.debug);
$r = $t->run({ stdin => $packed }, 'load', '/dev/stdin');
is($r->{code}, 0, 'a gzipped one through a pipe');

# --- by how many threads, and within how much memory ---

my @dumps = map {
    my $by = SymLoader->new;
    my $loaded = $by->run('load', '--threads', $_, "$elf/crash.debug");
    is($loaded->{code}, 0, "loaded by $_ threads") or diag $loaded->{err};
    my ($module) = $by->modules;
    $by->run('show', $module)->{out} =~ s/^(?:stored|used) .*\n//mgr;
} 1, 3;
like($dumps[0], qr/functions/, 'it has functions');
is($dumps[0], $dumps[1], '... and is the same module');

# sanitizers take more memory than any cap
if (($ENV{SYM_BUILD} // '') !~ /asan/) {
    my $large = $t->file('large.debug', substr($text, 0, 64));
    truncate $large, 200 << 20 or die "$large: $!\n";
    $r = $t->run('load', '--jobs', 1, '--convert-memory', '128m', $large,
                 "$elf/crash.debug");
    is($r->{code}, 1, 'a file that is larger than the memory');
    like($r->{err}, qr/large\.debug: out of memory: .*--convert-memory/,
         '... fails for that reason');
    like($r->{out}, qr/crash\.debug: crash/, '... and the next is loaded');
}

# --- invalid files ---

for my $case (
    [ 'cut in its header', substr($text, 0, 40), qr/truncated|malformed/ ],
    [ 'cut in its sections', substr($text, 0, length($text) / 2),
      qr/truncated|malformed/ ],
    [ 'a relocatable file', substr($text, 0, 16) . "\1\0" . substr($text, 18),
      qr/unsupported/ ])
{
    my ($what, $bytes, $why) = @$case;

    $t = SymLoader->new;
    $r = $t->run('load', $t->file('bad.debug', $bytes));
    is($r->{code}, 1, "$what: an error");
    like($r->{err}, $why, '... with its reason');
    is_deeply([ $t->modules ], [], '... nothing is stored');
}

done_testing();
