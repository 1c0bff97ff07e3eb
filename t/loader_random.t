#!/usr/bin/perl

# Contents that compilers never write, but damaged or merged files have:
# overlapping functions, overlapping lines, wrongly nested calls, gaps.  Small
# random modules of all these must be answered by the rules in
# docs/use/compat.md; the oracle reads the same text and shares no code with
# ours.

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
