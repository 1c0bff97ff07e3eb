#!/usr/bin/perl

# A bucket that refuses what a node publishes, for longer than the node repeats a
# request: the artifact waits, and is published when the bucket works again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;

my $TRIES = 4;    # of one request
my $fleet = SymFleet->new(nodes => 2);
my ($x, $y) = $fleet->nodes;
my $id = SymFolder::id(1);
my $puts = sub { scalar grep { $_->{method} eq 'PUT' && $_->{url} =~ m{^/shared/} } $fleet->s3->log };

$fleet->upload('a.so', $id, prefix => 'f');
$fleet->s3->fault(method => 'PUT', url => '^/shared/', times => $TRIES + 1, code => 'SlowDown');
is($x->function($x->ask([ 'a.so', $id ])), 'f0', 'the bucket is overloaded: a request is answered');

is($fleet->published(1), 1, '... and later the artifact is published');
is($puts->(), $TRIES + 2, '... when the bucket works again');
is($fleet->metric($x, 'published_total{outcome="failed"}'), 0, '... which is no failure');
is($y->function($y->ask([ 'a.so', $id ])), 'f0', '... for another node');
is($fleet->converted, 1, '... which does not convert it again');

# --- a refusal that does not pass ---

$id = SymFolder::id(2);
$fleet->upload('b.so', $id, prefix => 'g');
$fleet->s3->fault(method => 'PUT', url => '^/shared/', times => 1, code => 'AccessDenied');
is($x->function($x->ask([ 'b.so', $id ])), 'g0', 'the bucket refuses: a request is answered');
ok(SymTest->wait_for(sub { $fleet->metric($x, 'published_total{outcome="failed"}') == 1 }, 'the failure is counted'),
    '... and that is a failure at once');
is($puts->(), $TRIES + 3, '... by one request');

$_->allow(qr/symbolicate_share/) for $x, $y;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
