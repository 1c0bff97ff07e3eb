#!/usr/bin/perl

# Nodes of a fleet ask one of them for a missing module: that one fetches and
# converts it for all.  If it is gone, stalls or says nonsense, a node helps itself.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes qw(time);

use SymFleet;

my $n = 0;

sub next_id { return SymFolder::id(++$n) }

for my $bucket (0, 1) {
    my $how = $bucket ? 'with a bucket' : 'without a bucket';
    my $fleet = SymFleet->new(nodes => 4, peers => 1, bucket => $bucket);
    my @nodes = $fleet->nodes;
    my @ids = map { next_id() } 1 .. 8;
    $fleet->upload('a.so', $_, prefix => "f$_") for @ids;
    $fleet->s3->forget;

    # --- all nodes at once ---

    my @open = map { my $node = $_; map { [ $node, $_, $node->begin(['a.so', $_]) ] } @ids } @nodes;
    my @wrong = grep { $_->[0]->function($_->[0]->finish($_->[2])) ne "f$_->[1]0" } @open;
    is(scalar @wrong, 0, "$how: all nodes answer");
    is($fleet->converted, 8, '... each module was converted once');
    is_deeply([ sort $fleet->gets('symbols') ], [ sort map { SymFolder::path('a.so', $_) } @ids ],
        '... and fetched once');
    is($fleet->published(8), 8, '... and published once') if $bucket;

    my %asked = map { $_ => scalar grep { /\/peer\/artifact/ } split /\n/, $_->access_log } @nodes;
    cmp_ok(scalar(grep {$_} values %asked), '>', 1, '... several nodes were asked');

    # --- what no source has ---

    my $none = next_id();
    $fleet->s3->forget;
    is($_->function($_->ask(['none.so', $none])), 'false', 'a module that is nowhere') for @nodes;
    my @missed = grep { $_->{url} =~ m{^/symbols/none} } $fleet->s3->log;
    is(scalar @missed, 1, '... the source was asked once');

    # --- a node is gone ---

    $nodes[0]->stop;
    shutdown $nodes[0]{listen}, 2;    # other nodes have inherited it
    $nodes[0]{is_down} = 1;
    my @left = @nodes[1 .. 3];
    my @more = map { next_id() } 1 .. 8;
    $fleet->upload('b.so', $_, prefix => 'b') for @more;
    my $began = time;
    is(scalar(grep { $left[0]->function($left[0]->ask(['b.so', $_])) ne 'b0' } @more), 0,
        'a node is gone: the others answer');
    is(scalar(grep { $left[1]->function($left[1]->ask(['b.so', $_])) ne 'b0' } @more), 0, '... all of them');
    my $sum = 0;
    $sum += $_->loader->stats->{conversions_breakpad_ready} // 0 for @left;
    my $first = $nodes[0]->loader->stats->{conversions_breakpad_ready} // 0;
    is($sum + $first, 16, '... by one conversion each');

    $_->allow(qr/symbolicate_share|symbol source|upstream/) for @nodes;
    is($fleet->end, '', 'nothing unusual in the logs');
    $nodes[0]->loader_stop;
}

# --- a node that does not answer ---

{
    my $fleet = SymFleet->new(nodes => 2, peers => 1, bucket => 0, timeout => '1s');
    my ($x, $y) = $fleet->nodes;
    kill 'STOP', $y->workers;
    my @ids = map { next_id() } 1 .. 4;
    $fleet->upload('c.so', $_, prefix => 'c') for @ids;
    is(scalar(grep { $x->function($x->ask(['c.so', $_])) ne 'c0' } @ids), 0, 'a node stalls: the other answers');
    kill 'CONT', $y->workers;
    $_->allow(qr/symbolicate_share|symbol source|upstream/) for $x, $y;
    is($fleet->end, '', 'nothing unusual in the logs');
}

done_testing();
