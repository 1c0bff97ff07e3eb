#!/usr/bin/perl

# A source without symbols answers at once, and a request may name hundreds of
# modules.  A commit to disk costs milliseconds, so outcomes that reach the
# loader together become one transaction.  Waiting clients get their answers
# after it, and a client that asks in between gets the answer that is right at
# that moment.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(json_lines);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $ABSENT = 2;
my $N = 12;    # as many as have room for their files at once
my $t = SymServe->new->serve('--jobs', 1);
my $c = $t->client;

# Messages sent meanwhile are there when the daemon continues.
sub at_once {
    my ($send) = @_;

    kill 'STOP', $t->pid;
    1 until SymLoader::read_file('/proc/' . $t->pid . '/stat') =~ /\) T /;
    $send->();
    kill 'CONT', $t->pid;
}

sub none {
    my ($client, $ticket) = @_;
    $client->send(NONE => ticket => $ticket, state => $ABSENT,
                  ttl => [ 3600, 86400, 10 ], text => "no source has $ticket");
}

sub last_txn {
    return (json_lines($t->run('stat', '--json')->{out}))[0]{last_txn};
}

# --- many outcomes, one transaction ---

{
    is($c->ensure($_, "gone$_.so/$ID", 1)->{type}, 'FETCH', "FETCH $_")
        for 1 .. $N;
    my $before = last_txn();
    at_once(sub { none($c, $_) for 1 .. $N });

    for (1 .. $N) {
        my $m = $c->recv;
        is("$m->{type} $m->{ticket} $m->{text}", "NEGATIVE $_ no source has $_",
           "$_ is answered, in turn");
    }
    is(last_txn(), $before + 1, 'one transaction for all');

    # reported outcomes are stored
    $t->stop('KILL');
    $t->serve('--jobs', 1);
    $c = $t->client;
    for (1 .. $N) {
        $c->send(ENSURE => ticket => $_, key => "gone$_.so/$ID");
        is($c->recv->{text}, "no source has $_", "$_ is known");
    }
}

# --- other clients that ask in the same turn ---

{
    my $other = $t->client;

    is($c->ensure(100, "both.so/$ID", 1)->{type}, 'FETCH', 'FETCH');
    at_once(sub {
        none($c, 100);
        $c->send(ENSURE => ticket => 101, key => "both.so/$ID");
        $other->send(ENSURE => ticket => 102, key => "both.so/$ID");
    });
    is_deeply([ map { $_->{ticket} } $c->recv, $c->recv ], [ 100, 101 ],
              'a client that asked before the commit is answered with the others');
    is($other->recv->{type}, 'NEGATIVE', '... on another connection, too');
    is($t->stats->{elections}, 1, 'no other client was told to fetch it');

    # the client that fetched leaves before it is answered
    is($c->ensure(110, "left.so/$ID", 1)->{type}, 'FETCH', 'FETCH');
    $other->ensure(111, "left.so/$ID");
    at_once(sub {
        none($c, 110);
        $c->close;
    });
    is($other->recv->{text}, 'no source has 110',
       'messages of a client before it left count');
    $c = $t->client;
}

# --- invalidated in the same turn ---

{
    is($c->ensure(200, "new.so/$ID", 1)->{type}, 'FETCH', 'FETCH');
    at_once(sub {
        none($c, 200);
        $c->send(INVALIDATE => ticket => 201, key => "new.so/$ID");
        $c->send(ENSURE => ticket => 202, key => "new.so/$ID");
    });
    is($c->recv->{type}, 'NEGATIVE', 'the one before is answered');
    my $m = $c->recv;
    is("$m->{type} $m->{flags}", 'DONE 1', 'it was removed');
    is($c->recv->{type}, 'FETCH', 'the one after causes another fetch');
}

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
