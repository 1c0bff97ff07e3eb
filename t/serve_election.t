#!/usr/bin/perl

# However many clients request a module, one fetches it; and if that one is lost
# in any way, another is told to.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 1);

sub body {
    my ($name) = @_;
    return $t->file("bodies/$name", sym_text($name, $ID));
}

# --- 50 clients, one FETCH ---

{
    my @clients = map { $t->client } 1 .. 50;

    is($clients[0]->ensure(5, "one.so/$ID", 1)->{type}, 'FETCH',
       'the first client is elected');
    $_->ensure(5, "one.so/$ID") for @clients[1 .. 49];

    my $s = $t->stats;
    is($s->{flights}, 1, 'one module is in flight');
    is($s->{waiting}, 50, '... by 50');
    is($s->{joins}, 49, '... of whom 49 joined');
    is($s->{elections}, 1, '... and one was elected');
    is($s->{fetches_running}, 1, '... who fetches');
    is($s->{lease_bytes}, 1 << 20, '... with a lease');

    $clients[0]->send(INGEST => ticket => 5, path => body('one.so'));
    my @ready = grep { $_->recv->{type} eq 'READY' } @clients;
    is(scalar(@ready), 50, 'READY to all, and nothing else before it');

    $s = $t->stats;
    is_deeply([ @{$s}{qw(flights waiting fetches_running lease_bytes
                         elections conversions_breakpad_ready)} ],
              [ 0, 0, 0, 0, 1, 1 ], 'no state of it is left');
    $_->close for @clients;
}

# --- lost: connection ends, CANCEL ---

{
    my ($first, $second, $third) = map { $t->client } 1 .. 3;

    is($first->ensure(1, "two.so/$ID", 1)->{type}, 'FETCH',
       'the first is elected');
    $_->ensure(1, "two.so/$ID") for $second, $third;
    $first->close;
    is($second->recv->{type}, 'FETCH', 'it leaves: the next one is elected');
    $second->send(CANCEL => ticket => 1);
    is($third->recv->{type}, 'FETCH', 'that one cancels: the next one');

    $second->send(INGEST => ticket => 1, path => body('two.so'));
    ok($second->sync, 'a message after a CANCEL is not an answer');
    $second->ensure(1, "two.so/$ID");

    $third->send(INGEST => ticket => 1, path => body('two.so'));
    is($_->recv->{type}, 'READY', 'READY') for $third, $second;
    is($t->stats->{re_elections}, 2, 're-elections are counted');
}

# --- no client is left: the module is forgotten ---

{
    my $c = $t->client;

    $c->send(ENSURE => ticket => 1, key => "three.so/$ID");
    is($c->recv->{type}, 'FETCH', 'a module for one');
    $c->send(CANCEL => ticket => 1);
    is($t->stats->{flights}, 0, 'cancelled: forgotten');
    is($t->stats->{lease_bytes}, 0, '... and its lease is returned');

    $c->send(ENSURE => ticket => 1, key => "three.so/$ID");
    is($c->recv->{type}, 'FETCH', 'requested again');
    $c->close;
    ok($t->wait_stat(flights => 0), 'the client leaves: forgotten');
    is($t->stats->{lease_bytes}, 0, '... and its lease is returned');
}

# --- a conversion continues, even if all clients leave ---

{
    my $c = $t->client;

    $c->send(ENSURE => ticket => 1, key => "four.so/$ID");
    is($c->recv->{type}, 'FETCH', 'one more');
    $c->send(INGEST => ticket => 1, path => body('four.so'));
    $c->close;
    ok($t->wait_log(qr{four\.so/$ID: ready}), 'it is stored nevertheless');
    is($t->stats->{flights}, 0, '... and forgotten');
}

# --- too slow: --fetch-timeout ---

$t->stop;
$t->serve('--fetch-timeout', '3s', '--jobs', 1);
{
    my ($first, $second) = map { $t->client } 1 .. 2;

    is($first->ensure(1, "five.so/$ID", 1)->{type}, 'FETCH',
       'the first is elected');
    $second->send(ENSURE => ticket => 1, key => "five.so/$ID");
    is($second->recv->{type}, 'FETCH',
        'it takes too long: the next one is elected');
    $first->send(INGEST => ticket => 1, path => body('five.so'));
    for ($first, $second) {
        my $m = $_->recv;
        is($m->{type}, 'NEGATIVE', 'that one, too: no client is left');
        is($m->{state}, 3, '... failed');
        like($m->{text}, qr/fetched in time/, '... because of the timeout');
    }
}

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
