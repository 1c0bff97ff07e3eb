#!/usr/bin/perl

# `load` and `rm` find the daemon of a store at once.  They do not wait for its
# lock first, which it holds for its whole life.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use List::Util qw(min);
use Test::More;
use Time::HiRes qw(time);

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
$t->run('init');
$t->serve;
my $file = $t->file('a.sym', sym_text('a', $ID));
my %quickest;

# a busy machine is slow, but not every time; waiting for the lock takes a
# second
for (1 .. 5) {
    for my $command ([ load => $file ], [ rm => "a/$ID" ]) {
        my $began = time;
        is($t->run(@$command)->{code}, 0, "$command->[0] through the daemon");
        push @{ $quickest{ $command->[0] } }, time - $began;
    }
}

cmp_ok(min(@{ $quickest{$_} }), '<', 0.8, "$_ takes less than that second")
    for sort keys %quickest;
is($t->stop->{code}, 0, 'a clean end');
done_testing();
