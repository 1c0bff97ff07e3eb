#!/usr/bin/perl

# Compact unwind information of Mach-O: the registers that its rules restore are
# those that the function's first instructions push, and the frame size is what
# these instructions allocate.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(output);
use SymFixtures qw(need_fixtures);
use SymLoader;
use SymRules qw(rules_of);
use Test::More;

my $file = need_fixtures('macho') . '/crash';
my $t = SymLoader->new;
my $base = 0x100000000;

# The instructions of each address.
my (@order, %code);
for (split /\n/, output('llvm-objdump-19', '-d', '--no-show-raw-insn', $file)) {
    my ($at, $instruction) = /^\s*([0-9a-f]+):\s+(\S.*)/ or next;
    $code{hex($at) - $base} = scalar @order;
    push @order, $instruction;
}

# Registers in the order in which they are pushed, and bytes subtracted from sp.
sub prolog {
    my ($i) = @_;
    my (@pushed, $size, $has_frame);
    for (; $i < @order; $i++) {
        my $instruction = $order[$i];
        if ($instruction =~ /^pushq\s+%(\w+)/) { push @pushed, "\$$1" }
        elsif ($instruction =~ /^movq\s+%rsp, %rbp/) { $has_frame = 1 }
        elsif ($instruction =~ /^subq\s+\$(0x)?(\w+), %rsp/) {
            $size = $1 ? hex $2 : $2;
            last;
        }
        else { last }
    }
    return (\@pushed, $size // 0, $has_frame);
}

# Functions that have call frame information are not described by the compact form.
my @frames;
for (split /\n/, output('llvm-objdump-19', '--dwarf=frames', $file)) {
    push @frames, [hex($1) - $base, hex($2) - $base] if /pc=(\w+)\.\.\.(\w+)/;
}

my ($n, $saved, $different) = (0, 0, 0);
for my $row (@{ rules_of($t, $file) }) {
    my ($start, undef, $rule) = @$row;
    next if !defined $code{$start};
    next if grep { $start >= $_->[0] && $start < $_->[1] } @frames;
    my ($pushed, $size, $has_frame) = prolog($code{$start});
    # such a row is not at a function's first instruction, or has no frame
    next if !@$pushed;

    my $bytes = 8 + 8 * @$pushed + $size;
    my @wrong;
    push @wrong, '.cfa' if ($rule->{'.cfa'} // '')
        ne ($has_frame ? '$rbp 16 +' : "\$rsp $bytes +");
    for my $name (grep {/^\$/} keys %$rule) {
        my ($offset) = $rule->{$name} =~ /^\.cfa -(\d+) \+ \^$/;
        $saved++;
        push @wrong, $name
            if !$offset || ($pushed->[$offset / 8 - 2] // '') ne $name;
    }
    $n++;
    next if !@wrong;
    diag(sprintf('%x: ', $start), "@wrong", explain $rule, $pushed, $size) if $different++ < 3;
}
is($different, 0, "rules of $n functions match their code");
cmp_ok($n, '>', 80, '... which are many');
cmp_ok($saved, '>', 200, '... and save many registers');

done_testing();
