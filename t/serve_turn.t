#!/usr/bin/perl

# A source that has nothing answers at once, and a request may name hundreds of
# modules.  A commit that is on disk costs milliseconds: so what the loader hears
# at one time becomes one transaction.  Who waits is told after it, and whoever
# comes in between gets what is right at that moment.

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

# Whatever is sent meanwhile is there when the daemon goes on.
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
           "$_ is told, in turn");
    }
    is(last_txn(), $before + 1, 'one transaction for all');

    # told is kept
    $t->stop('KILL');
    $t->serve('--jobs', 1);
    $c = $t->client;
    for (1 .. $N) {
        $c->send(ENSURE => ticket => $_, key => "gone$_.so/$ID");
        is($c->recv->{text}, "no source has $_", "$_ is known");
    }
}

# --- others who ask in the same turn ---

{
    my $other = $t->client;

    is($c->ensure(100, "both.so/$ID", 1)->{type}, 'FETCH', 'FETCH');
    at_once(sub {
        none($c, 100);
        $c->send(ENSURE => ticket => 101, key => "both.so/$ID");
        $other->send(ENSURE => ticket => 102, key => "both.so/$ID");
    });
    is_deeply([ map { $_->{ticket} } $c->recv, $c->recv ], [ 100, 101 ],
              'who asked before the commit is told with the others');
    is($other->recv->{type}, 'NEGATIVE', '... on another connection, too');
    is($t->stats->{elections}, 1, 'nobody else was sent to fetch it');

    # the one who fetched goes before it is told
    is($c->ensure(110, "left.so/$ID", 1)->{type}, 'FETCH', 'FETCH');
    $other->ensure(111, "left.so/$ID");
    at_once(sub {
        none($c, 110);
        $c->close;
    });
    is($other->recv->{text}, 'no source has 110',
       'what a client said before it went counts');
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
    is($c->recv->{type}, 'NEGATIVE', 'the one before is told');
    my $m = $c->recv;
    is("$m->{type} $m->{flags}", 'DONE 1', 'it was removed');
    is($c->recv->{type}, 'FETCH', 'the one after has it fetched anew');
}

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
