#!/usr/bin/perl

# Nodes join, die and are cut off, and the bucket fails in every way: each module is
# still converted by one node, no answer is wrong, and none comes late.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;
use SymFleetLoad;

my $NEW = 12;        # modules of each phase
my $REQUESTS = 40;
my $fleet = SymFleet->new(nodes => 4, up => 3, peers => 1, files => 1, relayed => 1,
    timeout => '4s', bucket_timeout => '1s', how => 'symbolicate_budget 15s;');
my @nodes = $fleet->nodes;
my $load = SymFleetLoad->new($fleet, budget_s => SymTest::is_slow() ? 60 : 16);

# Requests for new modules, while something happens.  most: conversions of a module; of
# the twelve, two nodes may ask at once for some that no other node can be asked for, or
# that a node has made and not yet published.
sub phase {
    my ($what, $most, %events) = @_;
    $load->add($NEW);
    my $did = $load->run($REQUESTS, %events);
    is_deeply($did->{wrong}, [], "$what: no answer is wrong");
    is_deeply($did->{late}, [], '... or late');
    cmp_ok($did->{answers}, '>', 0, '... requests were answered');
    is($did->{incomplete}, 0, '... completely');
    cmp_ok($did->{modules}, '>', 0, '... modules were new');
    cmp_ok($did->{converted}, '<=', $did->{modules} * $most, "... conversions of a module: at most $most");
    cmp_ok($did->{gets}, '<=', $did->{modules} * $most, '... and fetches of its file');
    note(explain $did);
    return;
}

# Faults of the shared bucket.
sub bucket {
    my ($what, %fault) = @_;
    my @methods = $fault{body} ? 'GET' : qw(GET PUT);
    $fleet->s3->fault(method => $_, url => '^/shared/', times => -1, %fault) for @methods;
    phase("the bucket $what", 1);
    $fleet->s3->no_faults;
    return;
}

phase('nothing happens', 1);
phase('a node joins', 1.17, $REQUESTS / 2 => sub { $fleet->join_node($nodes[3]) });
# without the bucket, it would have to convert those old ones for which it is asked now
$load->{old} = 0;
bucket('is overloaded', code => 'SlowDown');
bucket('sends nonsense', body => 'nonsense');
# one of the four nodes cannot ask the others, but they share the bucket
phase('a node is cut off', 1.34, 0 => sub { $fleet->cut($nodes[0]) });
$fleet->heal;
phase('the network is whole again', 1);
phase('a node does not reach the bucket', 1, 0 => sub { $fleet->cut_bucket($nodes[1]) });
$fleet->heal;
bucket('does not answer', stall => 1);
phase('a node dies', 1.25, $REQUESTS / 2 => sub { $fleet->kill_node($nodes[2]) });

$_->allow(qr/symbolicate_share|symbol source|upstream/) for @nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
