#!/usr/bin/perl

# A full disk, or a module larger than the store takes, costs only that module:
# all waiting clients get failed, with the reason, even if the failure cannot be
# recorded.  Serving continues, and the log says it once, not for each module.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
my $n = 0;

sub bring {
    my ($c, $file) = @_;
    my $name = 'm' . ++$n;

    is($c->ensure($n, "$name/$ID", 1)->{type}, 'FETCH', "$name: FETCH");
    $c->send(INGEST => ticket => $n, path => $file, ttl => [ 1, 1, 1 ]);
    return $c->recv;
}

my $small = $t->file('small', sym_text('any', $ID));
# 250,000 functions of two lines, all different
my $large = $t->file('large', sym_text('any', $ID, functions => 250000,
                                       lines => 1));

# --- larger than half of the quota ---

is($t->run('init', '--quota', '16m')->{code}, 0, 'the minimal quota');
$t->serve('--jobs', 1);
{
    my $c = $t->client;
    my $waiting = $t->client;
    my $m;

    is(bring($c, $small)->{type}, 'READY', 'a small module');
    $m = bring($c, $large);
    is($m->{type}, 'NEGATIVE', 'a module larger than the store takes');
    is($m->{state}, 4, '... malformed: it is not downloaded again soon');
    like($m->{text}, qr/half of the store's quota/, '... why');
    is(bring($c, $large)->{state}, 4, 'another, too');
    is(bring($c, $small)->{type}, 'READY', 'a small one nevertheless');

    my $log = $t->stop->{err};
    my @lines = $log =~ /cannot store/g;
    is(scalar(@lines), 0, 'nothing is wrong with the store');
}
is($t->verify, 'sound', 'the store is sound');

# --- the disk: a file size limit has the same effect on a writer ---

$t = SymServe->new;
$t->run('init');
$t->file('small', sym_text('any', $ID));
{
    my $program = $t->{program};

    $t->limit('-f 2048');
    $t->serve('--jobs', 1);
    $t->{program} = $program;

    my $c = $t->client;
    is(bring($c, $small)->{type}, 'READY', 'a module, while there is room');
    my $first = "m$n";

    my ($m, $stored) = ({}, 0);
    while ($stored < 200) {
        $m = bring($c, $large);
        last if $m->{type} ne 'READY';
        $stored++;
    }
    is($m->{type}, 'NEGATIVE', 'then the disk is full');
    is($m->{state}, 3, '... failed');
    like($m->{text}, qr/full/, '... why');

    $m = bring($c, $large);
    is($m->{state}, 3, 'the next, too');
    $c->send(ENSURE => ticket => 999, key => "$first/$ID");
    is($c->recv->{type}, 'READY', 'stored modules are intact');

    my $r = $t->stop;
    is($r->{code}, 0, 'the daemon continues and exits cleanly');
    my @lines = $r->{err} =~ /cannot store/g;
    is(scalar(@lines), 1, 'the log says it once');
}
is($t->verify, 'sound', 'the store is sound');

done_testing();
