#!/usr/bin/perl

# Assembler inside of a function may have labels.  A crash after one is a crash
# of that function: the label names neither it nor the rest of it, whether the
# name comes from DWARF or only from the symbol table.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymElf qw(folder output run_ok);
use SymLlvm ();
use SymLoader qw(write_file);

my $dir = folder();
my $t = SymLoader->new;

# The inlined call begins with the label.
write_file("$dir/labels.c", <<'CODE');
volatile int sink;
static inline __attribute__((always_inline)) int step(int n)
{
    __asm__ volatile("inner_label:\n\tnop" ::: "memory");
    sink += n * 2;
    return n + sink;
}
__attribute__((noinline)) int outer(int n)
{
    sink = n;
    n = step(n);
    sink = n + 3;
    return n * sink;
}
int main(int argc, char **argv)
{
    (void) argv;
    return outer(argc);
}
CODE

# Addresses and sizes of symbols by name, as the tool prints them.
sub symbols {
    my ($file) = @_;
    my %at;

    for (split /\n/, output('llvm-nm', '-S', '--special-syms', $file)) {
        $at{$3} = [ hex($1), hex($2 // 0) ]
            if /^(\w+)(?: (\w+))? [tTN] (.*)$/;
    }
    return %at;
}

# Frames of each address, innermost first: "f:1 < g:2".
sub answers {
    my ($file, @addrs) = @_;
    my $r = $t->run('load', $file);

    is($r->{code}, 0, '... loaded');
    my ($module) = $r->{out} =~ m{: (\S+/[0-9A-F]{33}): } or die $r->{out};
    my @frames = SymLlvm::loader_frames($t, $module, @addrs);
    return map { join ' < ', map { "$_->[0]:$_->[2]" } @$_ } @frames;
}

# The function at addr in elfutils, which reads it from its entry.
sub expected {
    my ($file, $addr) = @_;
    my ($name) = output('eu-addr2line', '-f', '-e', $file,
                        sprintf '0x%x', $addr) =~ /^(\S+)/;
    return $name;
}

sub is_all_outer {
    my ($what, @got) = @_;
    return is_deeply([ grep { !/(?:^| )outer:\d+$/ } @got ], [], $what);
}

for my $cc ('gcc', 'clang') {
    my $file = "$dir/labels-$cc";

    run_ok('/bin/sh', '-c',
           "cd $dir && $cc -g -O2 labels.c -o $file -Wl,--build-id");
    my %at = symbols($file);
    my ($low, $size) = @{ $at{outer} };
    my $label = $at{inner_label}[0];
    my @addrs = ($low, $low + 1, $label, $label + 1, $low + $size - 1);

    ok($label > $low && $label < $low + $size, "$cc: the label is inside");
    my @got = answers($file, @addrs);
    is_all_outer('... every answer is of outer', @got);
    is((grep { /^step:\d+ < outer:11$/ } @got[2, 3]) + 0, 2,
       '... the call in the label is step, in line 11 of outer');

    is_deeply([ map { /^(.*?):/ } @got[0, 4] ],
              [ map { expected($file, $_) } @addrs[0, 4] ],
              '... as in elfutils');

    # without the function's own symbol the label still does not name it
    run_ok('llvm-objcopy', '--strip-symbol=outer', $file, "$file-stripped");
    @got = answers("$file-stripped", @addrs);
    is_all_outer('... also if only the label is left', @got);

    # symbols alone
    run_ok('llvm-objcopy', '--strip-debug', $file, "$file-symbols");
    my $dump = $t->run('dump', "$file-symbols")->{out};
    unlike($dump, qr/inner_label/, '... nor does it without DWARF');
    like($dump, qr/^(?:FUNC|PUBLIC) .*\bouter$/m, '... and outer is present');
}

# RISC-V: assemblers keep the compiler's own labels for the linker, which moves
# code.  gcc's are all called ".L0 ".
{
    my $file = "$dir/riscv";

    run_ok('/bin/sh', '-c', "cd $dir && clang --target=riscv64-linux-gnu"
           . ' -march=rv64gc -mabi=lp64d -fPIC -gdwarf-4 -O2 -Wa,-L -c labels.c'
           . ' -o riscv.o && ld.lld-19 -shared --build-id riscv.o -o riscv');
    my %at = symbols($file);
    my ($low, $size) = @{ $at{outer} };
    my ($own) = grep { /^\.L/ && $at{$_}[0] == $low } sort keys %at;

    ok($own, 'RISC-V: the function begins with such a label');
    run_ok('llvm-objcopy', '--strip-symbol=outer',
           "--redefine-sym=$own=.L0 ", $file, "$file-gcc");
    my %renamed = symbols("$file-gcc");
    is($renamed{'.L0 '}[0], $low, '... named as gcc names it');
    for my $of ($file, "$file-gcc") {
        is_all_outer('... outer has its name',
                     answers($of, $low, $low + $size - 2));
    }
}

is($t->run('verify')->{code}, 0, 'the store is sound');
done_testing();
