#!/usr/bin/perl

# Temporary files of all workers together stay within the room that the quota
# keeps for them: who has no lease waits, in turn, and what never fits is told.

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
my $first = $room / 4;
cmp_ok($room, '>', 0, 'there is room for temporary files');
cmp_ok($room, '<', 128 * $MIB, '... a part of the quota');

my @c = map { $t->client } 1 .. 6;

# --- in turn ---

for my $i (0 .. 3) {
    is_deeply($c[$i]->ensure(1, "m$i/$ID", 1),
              { type => 'FETCH', ticket => 1, length => $first },
              "lease $i: a quarter of the room");
}
$_->sync for $c[4], $c[5];
$c[4]->ensure(1, "m4/$ID");
$c[5]->ensure(1, "m5/$ID");
is($t->stats->{lease_bytes}, $room, 'all room is lent');
is($t->stats->{fetches_running}, 4, '... to four');
is($t->stats->{flights}, 6, '... and two wait');

$c[0]->send(NONE => ticket => 1, state => 2, text => 'no');
is($c[0]->recv->{type}, 'NEGATIVE', 'one has nothing');
is($c[4]->recv->{type}, 'FETCH', '... the next in turn gets its room');
$c[1]->close;
is($c[5]->recv->{type}, 'FETCH', 'one goes: the next');

# --- MORE ---

$c[4]->send(MORE => ticket => 1, length => $room);
ok($c[4]->sync, 'one wants all the room: it waits');
$c[0]->ensure(2, "m6/$ID");
ok($c[0]->sync, '... and before it nobody gets any, though it would fit');

$c[2]->send(CANCEL => ticket => 1);
$c[3]->send(INGEST => ticket => 1, path => $t->file('m3', sym_text('m3', $ID)));
is($c[3]->recv->{type}, 'READY', '... the others end');
$c[5]->send(NONE => ticket => 1, state => 3, text => 'refused');
is($c[5]->recv->{type}, 'NEGATIVE', '... one by one');
is_deeply($c[4]->recv, { type => 'FETCH', ticket => 1, length => $room },
          'then it has it');
is($t->stats->{lease_bytes}, $room, '... all');
$c[4]->send(INGEST => ticket => 1, path => $t->file('m4', sym_text('m4', $ID)));
is($c[4]->recv->{type}, 'READY', 'its lease comes back with the conversion');
is($c[0]->recv->{type}, 'FETCH', '... and the next gets a usual one');

# --- never ---

$c[0]->send(MORE => ticket => 2, length => $room + 1);
my $m = $c[0]->recv;
is($m->{type}, 'NEGATIVE', 'more than there is room at all');
is($m->{state}, 3, '... failed');
like($m->{text}, qr/larger than all room for temporary files/, '... why');

is_deeply([ @{ $t->stats }{qw(lease_bytes fetches_running flights)} ],
          [ 0, 0, 0 ], 'nothing is left');
is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
