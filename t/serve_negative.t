#!/usr/bin/perl

# All waiting clients get a failure, with its kind and reason, and it is
# recorded for as long as its kind lasts: for all clients, also after a restart.
# Then the module is fetched again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text json_lines);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $OTHER_ID = 'FFEEDDCCBBAA998877665544332211000';
my %STATE = (absent => 2, failed => 3, malformed => 4);
my $t = SymServe->new->serve('--jobs', 1);
my $ticket = 0;

sub fetch {
    my ($name, @clients) = @_;

    $ticket++;
    is($clients[0]->ensure($ticket, "$name/$ID", 1)->{type}, 'FETCH',
       "$name: FETCH");
    $_->ensure($ticket, "$name/$ID") for @clients[1 .. $#clients];
}

sub is_negative {
    my ($m, $state, $reason, $what) = @_;

    is($m->{type}, 'NEGATIVE', "$what: NEGATIVE");
    is($m->{state}, $STATE{$state}, "... $state");
    like($m->{text}, $reason, '... the reason');
    my ($ttl) = grep { $_ } @{ $m->{ttl} // [] };
    return $ttl;
}

# Its state: that of its one path, if there is no artifact.
sub shown {
    my ($name) = @_;
    my ($m) = json_lines($t->run('show', '--json', "$name/$ID")->{out});
    return $m if $m->{state} eq 'ready';
    return (grep { $_->{path} =~ m{^\Q$name\E/} } @{ $m->{places} })[0];
}

# --- nothing was fetched ---

{
    my @clients = map { $t->client } 1 .. 3;

    fetch('gone.so', @clients);
    $clients[0]->send(NONE => ticket => $ticket, state => $STATE{absent},
                      ttl => [ 3600, 86400, 10 ], text => 'no source has it');
    is_negative($_->recv, 'absent', qr/^no source has it$/, 'NONE absent')
        for @clients;

    $clients[1]->send(ENSURE => ticket => 99, key => "gone.so/$ID");
    my $left = is_negative($clients[1]->recv, 'absent', qr/^no source has it$/,
                           'known at once');
    ok($left > 3500 && $left <= 3600, '... for the rest of an hour');
    is(shown('gone.so')->{state}, 'absent', 'the store knows it');

    # failed: so that not all are retried at once
    my %lefts;
    for my $i (1 .. 12) {
        fetch("down$i.so", $clients[0]);
        $clients[0]->send(NONE => ticket => $ticket, state => $STATE{failed},
                          ttl => [ 3600, 86400, 1000 ], text => 'refused');
        my $ttl = is_negative($clients[0]->recv, 'failed', qr/^refused$/,
                              'NONE failed');
        ok($ttl > 740 && $ttl <= 1250, '... a quarter more or less');
        $lefts{$ttl} = 1;
    }
    cmp_ok(scalar(keys %lefts), '>', 3, '... not always the same');
}

$t->stop;
$t->serve('--jobs', 1);
{
    my $c = $t->client;

    $c->send(ENSURE => ticket => 1, key => "gone.so/$ID");
    is_negative($c->recv, 'absent', qr/^no source has it$/,
                'known after a restart');
}

# --- it expires ---

{
    my $c = $t->client;

    fetch('soon.so', $c);
    $c->send(NONE => ticket => $ticket, state => $STATE{absent},
             ttl => [ 1, 1, 1 ], text => 'not yet');
    is_negative($c->recv, 'absent', qr/^not yet$/, 'for one second');

    my ($m, $asked) = ({}, 0);
    my $end = time + 30;
    while (($m->{type} // '') ne 'FETCH' && time < $end) {
        $c->send(ENSURE => ticket => ++$ticket, key => "soon.so/$ID");
        $m = $c->recv;
    }
    is($m->{type}, 'FETCH', 'then it is fetched again');
    $c->send(INGEST => ticket => $ticket,
             path => $t->file('soon', sym_text('soon.so', $ID)));
    is($c->recv->{type}, 'READY', '... and found');
    is(shown('soon.so')->{state}, 'ready', '... and replaces the record');
}

# --- unreadable files ---

{
    my $c = $t->client;
    my @bad = (
        [ 'garbage.so', 'not a symbol file', qr/^malformed: / ],
        [ 'empty.so', '', qr/./ ],
        [ 'other.so', sym_text('other.so', $OTHER_ID),
          qr/wrong module: its id is $OTHER_ID, requested was $ID/ ],
        [ 'id.so', "MODULE Linux x86_64 XYZ id.so\nPUBLIC 0 0 f\n",
          qr/invalid debug id/ ],
    );

    for (@bad) {
        my ($name, $text, $reason) = @$_;
        fetch($name, $c);
        $c->send(INGEST => ticket => $ticket, path => $t->file($name, $text),
                 ttl => [ 3600, 500, 10 ]);
        my $ttl = is_negative($c->recv, 'malformed', $reason, $name);
        ok($ttl > 450 && $ttl <= 500,
            '... with the lifetime of malformed ones');
        is(shown($name)->{state}, 'malformed', '... kept');
    }
    my $stats = $t->stats;
    is($stats->{conversions_breakpad_malformed}, 2, 'counted');
    is($stats->{conversions_unknown_malformed}, 2, '... those without a format');

    # The id may be spelled differently: lower case, leading zeros of the age.
    fetch('written.so', $c);
    $c->send(INGEST => ticket => $ticket,
             path => $t->file('written', sym_text('written.so',
                 lc(substr($ID, 0, 32)) . '00000001')));
    is($c->recv->{type}, 'READY', 'another way to write the same id');
}

# --- descriptors that cannot be read ---

{
    my $c = $t->client;

    fetch('pipe.so', $c);
    $c->send(INGEST => ticket => $ticket, pipe => JSON::PP::true);
    is_negative($c->recv, 'failed', qr/not a regular file/, 'a pipe');

    fetch('short.so', $c);
    my $file = $t->file('short', sym_text('short.so', $ID));
    $c->send(INGEST => ticket => $ticket, path => $file, length => 1e6);
    is_negative($c->recv, 'failed', qr/shorter than the message says/,
                'fewer bytes than promised');

    fetch('far.so', $c);
    $c->send(INGEST => ticket => $ticket, path => $file, offset => 1e6,
             length => 1);
    is_negative($c->recv, 'failed', qr/shorter than the message says/,
                'an offset past the end');
}

is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
