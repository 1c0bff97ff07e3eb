#!/usr/bin/perl

# Nodes that wait for each other's downloads leave room for those downloads: otherwise
# two busy nodes would stand still until their waits time out.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes qw(time);

use SymFleet;

my $MANY = 40;
my $n = 0;

sub next_id { return SymFolder::id(++$n) }

for my $workers (1, 2) {
    my $what = "nodes with $workers worker" . ($workers > 1 ? 's' : '');
    my $fleet = SymFleet->new(nodes => 2, workers => $workers, peers => 1, bucket => 0,
        timeout => '60s', http => 'symbolicate_fetch_concurrency 4;');
    my @nodes = $fleet->nodes;
    my @ids = map { next_id() } 1 .. $MANY;
    $fleet->upload('a.so', $_, prefix => "f$_") for @ids;

    # --- both need the same files ---

    my $began = time;
    my @open = map { my $id = $_; map { [ $_, $id, $_->begin([ 'a.so', $id ]) ] } @nodes } @ids;
    my @wrong = grep { $_->[0]->function($_->[0]->finish($_->[2])) ne "f$_->[1]0" } @open;
    is(scalar @wrong, 0, "$what: all requests are answered");
    cmp_ok(time - $began, '<', 20, '... none waits for a timeout');
    is($fleet->converted, $MANY, '... each file was converted once');

    # --- each needs others ---

    my @more = map { next_id() } 1 .. $MANY;
    $fleet->upload('b.so', $_, prefix => "f$_") for @more;
    $began = time;
    my $i = 0;
    @open = map { my $node = $nodes[ $i++ % 2 ]; [ $node, $_, $node->begin([ 'b.so', $_ ]) ] } @more;
    @wrong = grep { $_->[0]->function($_->[0]->finish($_->[2])) ne "f$_->[1]0" } @open;
    is(scalar @wrong, 0, '... files that only one of them needs, too');
    cmp_ok(time - $began, '<', 20, '... without a timeout');

    $_->allow(qr/symbolicate_share/) for @nodes;
    is($fleet->end, '', 'nothing unusual in the logs');
}

# --- one source ---

# The bucket of a fleet is no source: its downloads leave no room of the only source free.
{
    my $fleet = SymFleet->new(nodes => 1, http => 'symbolicate_fetch_concurrency 4;');
    my ($node) = $fleet->nodes;
    my @ids = map { next_id() } 1 .. 4;
    $fleet->upload('c.so', $_, prefix => 'c') for @ids;
    $fleet->s3->fault(method => 'GET', url => '^/symbols/', hold => 1, times => -1);
    my @open = map { $node->begin([ 'c.so', $_ ]) } @ids;
    my $held = sub { scalar grep { $_->{url} =~ m{^/symbols/} } $fleet->s3->log };
    ok(SymTest->wait_for(sub { $held->() == 4 }, 'four downloads'),
        'the only source gets all downloads of a worker');
    $fleet->s3->no_faults->release;
    is(scalar(grep { $node->function($node->finish($_)) ne 'c0' } @open), 0, '... all answer');
    is($fleet->end, '', 'nothing unusual in the logs');
}

done_testing();
