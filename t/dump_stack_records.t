#!/usr/bin/perl

# `symloader dump` writes unwind rules of files that have nothing else: stripped executables;
# and brings a PDB and its executable together, as dump_syms does.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use File::Copy qw(copy);
use SymElf qw(output);
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file write_file);

my $windows = need_fixtures('windows');
my $t = SymLoader->new;

sub lines {
    my ($file, $what) = @_;
    my $r = $t->run({ no_store => 1 }, 'dump', '--format=breakpad', $file);
    is($r->{code}, 0, $what) or diag $r->{err};
    is($r->{err}, '', '... without a complaint');
    return split /\n/, $r->{out};
}

sub stack { return grep { /^STACK / } @_ }
sub functions { return grep { /^(FUNC|PUBLIC) / } @_ }

# --- a stripped executable ---

my ($source, $full, $stripped) = map { $t->dir . "/$_" } 'a.c', 'full', 'stripped';
write_file($source, "int f(int *p) { int a[99] = { *p }; return p == a; }\nint main(int n, char **v) { return f(&n) + !v; }\n");
system('gcc', '-O0', '-Wl,--build-id=sha1', '-o', $full, $source) == 0 or die "gcc failed\n";
system('strip', '-o', $stripped, $full) == 0 or die "strip failed\n";

my @full = lines($full, 'an executable');
my @stripped = lines($stripped, 'the same, stripped');
cmp_ok(scalar functions(@full), '>', 1, 'the first has functions');
is(scalar functions(@stripped), 0, '... the second has none');
is_deeply([stack(@stripped)], [stack(@full)], '... but the same rules');
cmp_ok(scalar stack(@stripped), '>', 4, '... which are some');
is($stripped[0] =~ s/stripped$//r, $full[0] =~ s/full$//r, '... and the same id');
is($stripped[1], $full[1], '... and code id');

system('objcopy', '--remove-section=.eh_frame', '--remove-section=.eh_frame_hdr', $stripped, "$stripped.none") == 0
    or die "objcopy failed\n";
my $r = $t->run({ no_store => 1 }, 'dump', "$stripped.none");
is($r->{code}, 1, 'one without rules is refused');
like($r->{err}, qr/no symbols: the file was stripped/, '... because it has no symbols');

# --- a PDB and its executable ---

my ($alone, $both) = map { $t->dir . "/$_" } 'alone', 'both';
mkdir $_ or die for $alone, $both;
copy("$windows/CrashWithException.$_", "$both/CrashWithException.$_") or die for 'exe', 'pdb';
copy("$windows/CrashWithException.$_", "$alone/$_.$_") or die for 'exe', 'pdb';

my @pdb = lines("$both/CrashWithException.pdb", 'a PDB beside its executable');
my @exe = lines("$both/CrashWithException.exe", 'the executable beside its PDB');
is_deeply(\@exe, \@pdb, '... have the same text');

my @rules = stack(lines("$alone/exe.exe", 'an executable alone'));
is_deeply([stack(@pdb)], \@rules, '... whose rules the executable has');
my @symbols = lines("$alone/pdb.pdb", 'a PDB alone');
$symbols[0] =~ s/pdb\.pdb$/CrashWithException.pdb/;
is_deeply([grep { !/^STACK / } @pdb], \@symbols, '... and all else the PDB');

# the functions of the exception table, as LLVM shows them
my ($base) = output('llvm-readobj-19', '--file-headers', "$windows/CrashWithException.exe") =~ /ImageBase: (0x\w+)/;
my @table = output('llvm-readobj-19', '--unwind', "$windows/CrashWithException.exe") =~ /StartAddress: .*?\((0x\w+)\)/g;
my @rows = map { [map { hex } (split)[3, 4]] } @rules;
my @without = grep {
    my $at = hex($_) - hex $base;
    !grep { $at >= $_->[0] && $at < $_->[0] + $_->[1] } @rows;
} @table;
cmp_ok(scalar @table, '>', 30, 'LLVM shows functions');
is_deeply(\@without, [], '... each of which has rules');

# x86: the PDB has the rules
my @windows = map { [lines("$windows/crash.$_", "x86, from the $_")] } 'pdb', 'exe';
is_deeply($windows[0], $windows[1], '... the same text');
cmp_ok(scalar(grep { /^STACK WIN 4 / } @{ $windows[0] }), '>', 100, '... with frame data');

# another program's PDB with the name of this one
copy("$windows/crash.pdb", "$alone/CrashWithException.pdb") or die;
is(scalar functions(lines("$alone/exe.exe", 'a PDB of another program')), 0, '... is not taken');

done_testing();
