#!/usr/bin/perl

# What compilers never write and damaged or merged files hold: functions over
# functions, lines over lines, calls that nest wrongly, gaps.  Small modules of
# all that, made by chance, must be answered as the rules in docs/use/compat.md have
# it; the oracle reads the same text and shares no code with us.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader;
use SymTest;

my $t = SymLoader->new;
my $modules = SymTest::is_slow() ? 20 : 80;
my $answers = 240 * $modules;

for my $seed (1 .. 4) {
    my $dir = $t->dir . "/$seed";
    mkdir $dir or die "$dir: $!";
    my $said = join '', map { "$_\n" }
        `python3 '$FindBin::Bin/lib/sym_random.py' '$t->{program}' '$dir' $modules $seed`
        =~ /[^\n]+/g;
    like($said, qr/\A$answers answers, 0 modules differ\n\z/, "seed $seed");
    diag($said) if $said !~ /, 0 modules/;
}

done_testing();
