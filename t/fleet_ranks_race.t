#!/usr/bin/perl

# Two nodes write the list of what their fleet uses at the same time: the bucket
# accepts one of them, and the other one reads the list again and adds its part.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;

my $LIST = 'ranks.1';
my $fleet = SymFleet->new(nodes => 2, share => 'warm=60s every=200ms');
my $s3 = $fleet->s3;
my @nodes = $fleet->nodes;
my $n = 0;

sub puts { return grep { $_->{method} eq 'PUT' && $_->{url} eq "/shared/$LIST" } $s3->log }

# Whether the list in the bucket names all of these modules.
sub lists {
    my $list = $s3->signed('shared', $LIST);
    return $list->{status} == 200 && !grep { index($list->{body}, pack 'H*', substr $_, 0, 32) < 0 } @_;
}

my @listed;
for my $case ([ 'none', qr/^\*$/, 'no list' ], [ 'match', qr/^"\w{32}"$/, 'an old list' ]) {
    my ($header, $value, $what) = @$case;
    $s3->forget;
    $s3->fault(method => 'PUT', url => "^/shared/$LIST", hold => 1, times => -1);
    for my $node (@nodes) {
        push @listed, SymFolder::id(++$n);
        $fleet->upload('a.so', $listed[-1]);
        is($node->function($node->ask([ 'a.so', $listed[-1] ])), 'f0', 'a node uses a module');
    }
    ok(SymTest->wait_for(sub { puts() == 2 }, 'two PUTs'), "$what: two nodes write theirs");
    like($_->{$header}, $value, '... if it is as they have seen it') for puts();
    $s3->no_faults->release;
    ok(SymTest->wait_for(sub { lists(@listed) }, 'the list'), '... the list has the modules of both');
    my @status = sort map { $_->{status} // 0 } (puts())[ 0, 1 ];
    is_deeply(\@status, [ 200, 412 ], '... the bucket has refused one of them');
}

unlike($_->error_log, qr/the list of the artifacts .* could not/, 'this is no trouble') for @nodes;
$_->allow(qr/symbolicate_share/) for @nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
