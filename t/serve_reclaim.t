#!/usr/bin/perl

# A worker tells the daemon that no request waits for a download any more.  The
# download keeps its lease until a request waits for room: then the daemon
# reclaims it, and modules that requests wait for get their leases first.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
$t->run('init', '--quota', '64m');
$t->serve;
my ($left, $waits) = ($t->client, $t->client);

sub ask {
    my ($c, $ticket) = @_;
    $c->send(ENSURE => ticket => $ticket, scope => 's', key => "m$ticket/$ID");
    return;
}

# As many as the source may have: half of 6 MiB.
ask($left, $_) for 1 .. 4;
is($left->next, "FETCH $_", "lease $_") for 1 .. 3;
$left->send(ABANDON => ticket => $_, flags => 0) for 4, 2, 3;
$left->sync;
is($t->stats->{lease_bytes}, 3 << 20, 'abandoned downloads keep their leases');

ask($left, 5);
is($left->next, 'RECLAIM 3', 'a request waits: the latest of equal leases is reclaimed');
ask($waits, 6);
$left->send(CANCEL => ticket => 3);
is($left->next, 'FETCH 5', 'its lease goes to a module that a request waits for');
is($left->next, 'RECLAIM 2', 'another request waits');
$left->send(ABANDON => ticket => 2, flags => 1);
$left->send(CANCEL => ticket => 1);
is($waits->next, 'FETCH 6',
    'requests are served before downloads abandoned earlier');
$left->send(CANCEL => ticket => 5);
is($left->next, 'FETCH 4', 'that one is last');
$left->sync;
is($t->stats->{lease_bytes}, 3 << 20,
    'one that a request waits for again is not reclaimed');
is($t->stop->{code}, 0, 'a clean end');

done_testing();
