#!/usr/bin/perl

# Temporary files of all workers together stay within the room that the quota
# reserves for them.  Leases begin small and grow during the download; each
# scope has its share, so a stalled source leaves room for the others; clients
# without a lease wait in turn, and a download that can never fit is refused.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $MIB = 1 << 20;
my $t = SymServe->new;

$t->serve('--jobs', 1, '--quota', '128m');

my $room = $t->stats->{temp_room_bytes};
cmp_ok($room, '>=', 10 * $MIB, 'there is room for temporary files');
cmp_ok($room, '<', 128 * $MIB, '... a part of the quota');

sub leased {
    my ($bytes, $what) = @_;
    my $is = $t->stats->{lease_bytes};
    return is($is, $bytes, $what);
}

# Requests a module of a scope; a client that is told to fetch takes the
# message.
sub ask {
    my ($c, $ticket, $scope) = @_;
    $c->send(ENSURE => ticket => $ticket, scope => $scope,
        key => "m$scope$ticket/$ID");
    return;
}

sub fetch_is {
    my ($c, $ticket, $length, $what) = @_;
    return is_deeply($c->recv,
        { type => 'FETCH', ticket => $ticket, length => $length }, $what);
}

sub ingest {
    my ($c, $ticket, $name) = @_;
    $c->send(INGEST => ticket => $ticket,
        path => $t->file($name, sym_text($name, $ID)));
    return is($c->recv->{type}, 'READY', "$name is stored");
}

# --- a share each ---

my $half = int($room / 2 / $MIB);
my $slow = $t->client;
ask($slow, $_, 'slow') for 1 .. 500;
fetch_is($slow, $_, $MIB, "first lease $_ is small") for 1 .. $half;
$slow->sync;
leased($half * $MIB, 'one scope holds half of the room at most');
is($t->stats->{fetches_running}, $half, '... and the others wait');

my $healthy = $t->client;
ask($healthy, $_, 'healthy') for 1, 2;
fetch_is($healthy, 1, $MIB, 'another scope has room at once');
fetch_is($healthy, 2, $MIB, '... more than once');
ingest($healthy, 1, "mhealthy1");
my $third = $t->client;
ask($third, 1, 'third');
fetch_is($third, 1, $MIB, '... and so has a third');
$third->send(NONE => ticket => 1, state => 2, text => 'no');
is($third->recv->{type}, 'NEGATIVE', '... which has nothing');

# --- in turn ---

# with one lease elsewhere its share is smaller by one
for my $ticket (1, 2) {
    $slow->send(NONE => ticket => $ticket, state => 2, text => 'no');
    is($slow->recv->{type}, 'NEGATIVE', 'one of a scope ends');
}
fetch_is($slow, $half + 1, $MIB, '... the next in turn gets its room');
$slow->close;
ok($t->wait_stat(flights => 1),
    'modules that only a lost client waited for are forgotten');
leased($MIB, '... and its leases are returned');

# --- MORE ---

$healthy->send(MORE => ticket => 2, length => 4 * $MIB);
fetch_is($healthy, 2, 4 * $MIB, 'MORE is granted while the download continues');
leased(4 * $MIB, '... and counts');
is($t->stats->{elections}, $half + 4, '... and no other client is elected');
ask($healthy, 3, 'healthy');
fetch_is($healthy, 3, $MIB, 'another one begins');
$healthy->send(MORE => ticket => 2, length => $room - 2 * $MIB);
ok($healthy->sync, 'one asks for nearly all the room: it waits');
leased($MIB, '... without its previous lease');
ask($healthy, 4, 'healthy');
ok($healthy->sync, '... and no client of its scope gets any before it');
ask($third, 2, 'third');
fetch_is($third, 2, $MIB, '... but one of another scope does');
ingest($healthy, 3, 'mhealthy3');
fetch_is($healthy, 2, $room - 2 * $MIB,
    'when its scope has no other lease: granted');
leased($room - $MIB, '... next to the other');
ingest($healthy, 2, 'mhealthy2');
fetch_is($healthy, 4, $MIB, 'its lease is returned by the conversion');

# --- never ---

$healthy->send(MORE => ticket => 4, length => $room + 1);
my $m = $healthy->recv;
is($m->{type}, 'NEGATIVE', 'more than the whole room');
like($m->{text}, qr/larger than all room for temporary files/, '... why');
$third->send(NONE => ticket => 2, state => 3, text => 'refused');
is($third->recv->{type}, 'NEGATIVE', 'the last ends');

is_deeply([ @{ $t->stats }{qw(lease_bytes fetches_running flights)} ],
          [ 0, 0, 0 ], 'nothing is left');

# --- small leases do not block a large one ---

my $small = $t->client;
ask($small, $_, 'small') for 1 .. 40;
fetch_is($small, $_, $MIB, "small lease $_") for 1 .. $half;
ask($third, 5, 'third');
fetch_is($third, 5, $MIB, 'one of another scope');
$third->send(MORE => ticket => 5, length => $room - 3 * $MIB);
$third->sync;
sleep 6;    # PATIENCE_MS of loader/daemon/inflight.c
for my $ticket (1 .. $half) {
    $small->send(NONE => ticket => $ticket, state => 2, text => 'no');
}
fetch_is($third, 5, $room - 3 * $MIB,
    'a large one that waited is served first');
$third->close;

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
