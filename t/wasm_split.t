#!/usr/bin/perl

# clang -gsplit-dwarf leaves most of the DWARF of a WebAssembly module in .dwo
# files, and llvm-dwp packs these into one .dwp.  They are used like those of
# ELF files: functions, inlined calls and lines are llvm-symbolizer's.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLlvm qw(llvm_frames loader_frames frame_differences);
use SymLoader qw(read_file);

my %source = (one => <<'ONE', two => <<'TWO');
extern volatile int sink;
int two(int);
static inline __attribute__((always_inline)) int helper(int n)
{
    sink += n;
    return sink * 3;
}
__attribute__((noinline)) int one(int n)
{
    n = helper(n);
    return two(n) + sink;
}
ONE
volatile int sink;
static inline __attribute__((always_inline)) int helper(int n)
{
    if (n > 7)
        sink -= n;
    return sink / 5;
}
__attribute__((noinline)) int two(int n)
{
    return helper(n) - sink;
}
TWO

# A module in its own folder, and the addresses of its code.
sub make {
    my ($t, $how) = @_;
    my $dir = $t->dir . '/tree';

    $t->file("tree/$_.c", $source{$_}) for keys %source;
    is(system("cd '$dir' && clang --target=wasm32 -O2 -g -gsplit-dwarf $how"
              . ' -c one.c two.c && wasm-ld-19 --no-entry --export=one'
              . ' --build-id one.o two.o -o m.wasm'), 0, "made: $how");
    my @at = map { /^([0-9a-f]+) ([0-9a-f]+) [tT] (?:one|two)$/
                   ? hex($1) + 1 .. hex($1) + hex($2) - 1 : () }
        qx(llvm-nm-19 -S '$dir/m.wasm');
    cmp_ok(scalar(@at), '>', 40, '... it has code');
    return ("$dir/m.wasm", @at);
}

sub loaded {
    my ($t, $file) = @_;
    my $r = $t->run('load', $file);

    is($r->{code}, 0, '... loaded');
    my ($module) = $r->{out} =~ m{: (m\.wasm/[0-9A-F]{33}): } or die $r->{out};
    return ($module, $r->{err});
}

# The frames of all addresses are LLVM's.  LLVM's addresses count from the code,
# but those of its symbols from the file: with short names it ignores the
# symbols.
sub llvm {
    my ($t, $file, @at) = @_;
    my ($code) = qx(llvm-objdump-19 -h '$file') =~ /CODE +\w+ (\w+) TEXT/;

    return llvm_frames($t, $file, '--functions=short',
                       map { $_ - hex($code) } @at);
}

sub agree {
    my ($t, $file, $what, @at) = @_;
    my ($module, $said) = loaded($t, $file);
    my @ours = loader_frames($t, $module, @at);

    # llvm_frames() has no file if LLVM has no line
    for my $frame (map { @$_ } @ours) {
        $frame->[1] = '??' if $frame->[2] == 0;
    }

    is($said, '', "$what: without a warning");
    is_deeply([ frame_differences(\@ours, [ llvm($t, $file, @at) ]) ], [],
              '... all frames are the same');
    cmp_ok(scalar(grep { @$_ == 2 } @ours), '>', 10, '... with inlined calls');
}

for my $version (4, 5) {
    my $t = SymLoader->new;
    my ($file, @at) = make($t, "-gdwarf-$version");
    my $dir = $t->dir . '/tree';

    agree($t, $file, '.dwo', @at);

    # packed; LLVM's symbolizer expects the package at the same path
    next if system("cd '$dir' && llvm-dwp-19 one.dwo two.dwo -o m.wasm.dwp"
                   . ' && mkdir away && mv *.dwo away') != 0;
    my $own = SymLoader->new;
    my ($module, $said) = loaded($own, $file);
    my @packed = loader_frames($own, $module, @at);
    my @single = loader_frames($t, $module, @at);
    is_deeply(\@packed, \@single, '.dwp: the same');
    is($said, '', '... without a warning');

    # gone
    unlink("$dir/m.wasm.dwp");
    $own = SymLoader->new;
    ($module, $said) = loaded($own, $file);
    like($said, qr/2 of 2 split units have lines only/, '... gone: a warning');

    # one of another build, a truncated one, one that is not a module
    my $other = read_file("$dir/away/one.dwo");
    $own->file('other/m.wasm', read_file($file));
    for my $bad ([ 'of another unit', read_file("$dir/away/two.dwo") ],
                 [ 'cut', substr($other, 0, length($other) / 2) ],
                 [ 'empty', '' ], [ 'of another format', "\x7fELF" . 'x' x 99 ])
    {
        $own->file('other/one.dwo', $bad->[1]);
        my (undef, $why) = loaded($own, $own->dir . '/other/m.wasm');
        like($why, qr/2 of 2 split units have lines only/, "$bad->[0]: not used");
    }
}

done_testing();
