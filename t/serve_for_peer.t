#!/usr/bin/perl

# Downloads that may wait for other nodes leave room for those that other nodes wait
# for.  A client that fetches for another node gets FOR_PEER, so that it asks none.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
$t->run('init', '--quota', '128m');
$t->serve;
my ($own, $peers) = ($t->client, $t->client);

sub ask {
    my ($c, $ticket, $module) = @_;
    $c->send(ENSURE => ticket => $ticket, scope => 's', key => "$module/$ID");
    return;
}

# As many as the source may have: half of 12 MiB.
ask($own, $_, "m$_") for 1 .. 8;
is($own->next, "FETCH $_", "lease $_") for 1 .. 6;

ask($peers, 9, 'm9');
$peers->send(FOR_PEER => ticket => 9);
is($peers->next, 'FETCH 9', 'a peer waits: room of its own');
is($peers->next, 'FOR_PEER 9', '... and the client is told');

ask($peers, 8, 'm8');
$peers->send(FOR_PEER => ticket => 8);
is($own->next, 'FETCH 8', 'a peer waits for a queued download: it is before others');
is($own->next, 'FOR_PEER 8', '... the elected client is told');

ask($peers, 1, 'm1');
$peers->send(FOR_PEER => ticket => 1);
is($own->next, 'FOR_PEER 1', 'a running download, too');

# another search with the same places
$peers->send(ENSURE => ticket => 2, scope => 's', key => "m2/$ID", flags => 1);
$peers->send(FOR_PEER => ticket => 2);
is($own->next, 'FOR_PEER 2', 'a download of the same file for another search, too');

$own->send(FOR_PEER => ticket => 77);
$own->sync;
is($t->stats->{lease_bytes}, 8 << 20, 'an unknown ticket has no effect');
$_->send(CANCEL => ticket => 1) for $own, $peers;
$own->sync;
is($t->stats->{lease_bytes}, 7 << 20, 'its lease was returned');
is($t->stop->{code}, 0, 'a clean end');

done_testing();
