#!/usr/bin/perl

# A peer knows how long a file is known to be absent: the other nodes believe it for
# the rest of that time, so that they find a new file in time.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::Local qw(timegm);

use SymFleet;

my $TTL = 20;
my $AGE = 3;
my $fleet = SymFleet->new(nodes => 3, peers => 1, bucket => 0,
    how => "symbolicate_negative_ttl absent=${TTL}s;");
my @nodes = $fleet->nodes;
my @ids = map { SymFolder::id($_) } 1 .. 4;

# Until when the node believes that the file is absent.
sub until_s {
    my ($node, $id) = @_;
    my $at = $node->request('GET', "/admin/explain/none.so/$id")->{json}{expires_at};
    my ($year, $month, @rest) = $at =~ /^(\d+)-(\d+)-(\d+)T(\d+):(\d+):(\d+)/ or die "explain: $at";
    return timegm(reverse(@rest), $month - 1, $year);
}

is($nodes[0]->function($nodes[0]->ask([ 'none.so', $_ ])), 'false', 'a file that no source has') for @ids;
my %until = map { $_ => until_s($nodes[0], $_) } @ids;
my $latest = (sort { $b <=> $a } values %until)[0];
SymTest->wait_for(sub { time > $latest - $TTL + $AGE }, 'the answers are older');

for my $id (@ids) {
    my @of = map { $_->ask([ 'none.so', $id ]); until_s($_, $id) } @nodes[ 1, 2 ];
    my @later = grep { $_ > $until{$id} + 1 } @of;
    is("@later", '', 'other nodes believe it no longer than the first one');
}

$_->allow(qr/symbolicate_share/) for @nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
