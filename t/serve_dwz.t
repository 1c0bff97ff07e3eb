#!/usr/bin/perl

# The companions of a fetched debug file are fetched by the clients that wait
# for its module: once for all modules of a package, by another client if the
# first is lost, and without delaying other modules.  If the file is absent
# everywhere the module is made without it; if it could not be fetched the
# module has failed; a file of another build is refused.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymDwz;
use SymElf;
use SymLoader qw(json_lines sym_text write_file);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
# docs/formats/loader-protocol.md
my $MIB = 1 << 20;
my ($ABSENT, $FAILED, $MALFORMED) = (2, 3, 4);

my $package = SymDwz->new(SymElf::folder());
my %common = %{ $package->{common} };
my $t = SymServe->new->serve('--jobs', 1);

sub key {
    my ($name) = @_;
    return "$name/" . uc $package->{$name}{id};
}

# Hands the module's file over; returns the next message.
sub ingest {
    my ($c, $ticket, $name) = @_;
    is($c->ensure($ticket, key($name), 1)->{type}, 'FETCH', "$name: FETCH");
    $c->send(INGEST => ticket => $ticket, path => $package->{$name}{debug},
             source => "http://there/$name");
    return $c->recv;
}

sub forget {
    $t->run('rm', map { key($_) } @_);
    return;
}

sub shown {
    my ($name) = @_;
    return (json_lines($t->run('show', '--json', key($name))->{out}))[0];
}

sub is_companion {
    my ($m, $ticket, $what) = @_;
    my %fields = unpack '(C v/a)*', $m->{reference} // '';
    is_deeply([ @{$m}{qw(type ticket kind)}, @fields{4, 6} ],
              [ 'FETCH', $ticket, 1, $common{id}, 'common.debug' ], $what)
        or diag(explain($m));
    return;
}

my $quiet = $t->client;
my $before = $t->descriptors;

# --- fetched once, and reused ---

{
    my ($a, $b) = ($t->client, $t->client);
    is_companion(ingest($a, 7, 'one'), 7, 'FETCH: the supplementary file');
    is($b->ensure(9, key('two'), 1)->{type}, 'FETCH', 'the next of the package');
    $b->send(INGEST => ticket => 9, path => $package->{two}{debug});
    ok($b->sync, '... waits for the same');
    ok($t->wait_stat(conversions_running => 0), '... no converter does');
    is($t->stats->{supplement_bytes}, $MIB, '... a lease is held');

    $quiet->ensure(1, "other/$ID", 1);
    $quiet->send(INGEST => ticket => 1,
                 path => $t->file('other', sym_text('other', $ID)));
    is($quiet->recv->{type}, 'READY', 'others are converted meanwhile');

    $a->send(INGEST => ticket => 7, path => $common{debug});
    is($_->recv->{type}, 'READY', 'it arrives: READY') for $a, $b;
    is(shown($_)->{incomplete}, '', "$_ has all") for qw(one two);
    forget('one');
    is(ingest($a, 8, 'one')->{type}, 'READY', 'again: it was kept');
    my $s = $t->stats;
    is($s->{supplement_fetches}, 1, 'fetched once');
    is($s->{supplement_bytes}, -s $common{debug}, '... and counted');
    $_->close for $a, $b;
    $t->wait_stat(clients => 2);
    is($t->settled_descriptors($before + 1), $before + 1, 'one descriptor is kept');
}

# --- companions that cannot be fetched; each daemon starts without files ---

sub restart {
    my (@args) = @_;
    is($t->stop->{code}, 0, 'stopped');
    forget('one', 'two');
    $t->serve('--jobs', 1, @args);
    return;
}

sub is_incomplete {
    my ($what, $m, $why) = @_;
    is($m->{type}, 'READY', "$what: converted without it");
    like(shown('one')->{incomplete}, $why, '... which show reports');
    forget('one');
    return;
}

my $missing = qr/names are missing.*common\.debug \($common{id}\)/;

restart();
{
    my $c = $t->client;
    is_companion(ingest($c, 1, 'one'), 1, 'asked for');
    $c->send(NONE => ticket => 1, state => $ABSENT, text => 'no source has it');
    is_incomplete('absent', $c->recv, $missing);

    is_companion(ingest($c, 2, 'one'), 2,
        'for the next module it is requested again');
    $c->send(NONE => ticket => 2, state => $FAILED, text => 'source "s": timeout');
    my $m = $c->recv;
    is("$m->{type} $m->{state}", "NEGATIVE $FAILED", 'failed: so has the module');
    is($m->{text}, "its supplementary file $common{id}: source \"s\": timeout",
       '... with the reason');
    forget('one');

    is_companion(ingest($c, 3, 'one'), 3, 'asked for');
    $c->send(INGEST => ticket => 3, path => $package->{two}{debug});
    is_incomplete('of another build', $c->recv,
        qr/common\.debug is of another build: its id is $package->{two}{id}, not $common{id}/);
    is($t->stats->{supplement_bytes}, 0, '... and is not kept');

    is_companion(ingest($c, 4, 'one'), 4, 'asked for');
    $c->send(INGEST => ticket => 4, path => $common{debug}, length => 1 << 40);
    $m = $c->recv;
    is("$m->{type} $m->{state}", "NEGATIVE $FAILED", 'shorter than announced');
    forget('one');

    my $other = $t->client;
    is_companion(ingest($c, 5, 'one'), 5, 'asked for');
    $other->send(INVALIDATE => ticket => 2, key => key('one'));
    is($other->recv->{type}, 'DONE', 'invalidated meanwhile');
    $c->send(INGEST => ticket => 5, path => $common{debug});
    is($c->recv->{type}, 'FETCH', '... the module is fetched again');
    $c->send(INGEST => ticket => 5, path => $package->{one}{debug});
    is($c->recv->{type}, 'READY', '... and made of both');
    is($t->stats->{lease_bytes}, 0, 'no lease is left');
}

# --- room ---

restart('--quota', '16m');    # 512 KiB are for supplementary files
{
    my $c = $t->client;
    my $m = ingest($c, 1, 'one');
    is($m->{length}, 512 << 10, 'a lease of all their room');
    $c->send(NONE => ticket => 1, state => $FAILED, text => 'no');
    is($c->recv->{type}, 'NEGATIVE', '... which is not used');
}

# --- modules that wait for their companions hold all leases ---

restart('--quota', '16m');
{
    my $c = $t->client;
    my ($n, $ready, $asked, $m) = (0, 0);
    do {
        $c->send(ENSURE => ticket => ++$n, scope => "s$n", key => key('one'));
        while (($m = $c->recv)->{type} eq 'FETCH' && defined $m->{kind}) {
            $asked = $m;
        }
        $c->send(INGEST => ticket => $m->{ticket}, path => $package->{one}{debug});
    } while ($t->stats->{lease_bytes} < $t->stats->{temp_room_bytes} && $n < 20);
    ok($t->wait_stat(conversions_running => 0), "$n modules have a lease");
    $c->send(ENSURE => ticket => ++$n, scope => "s$n", key => key('one'));
    is($t->stats->{lease_bytes}, $t->stats->{temp_room_bytes}, '... of all room together');
    $asked //= $c->recv;
    is_companion($asked, $asked->{ticket}, '... and a companion is asked for nevertheless');

    # from here on in any order
    $c->send(INGEST => ticket => $asked->{ticket}, path => $common{debug});
    while ($ready < $n && ($m = $c->recv)->{type} ne 'NOTHING') {
        $ready += $m->{type} eq 'READY';
        $c->send(INGEST => ticket => $m->{ticket}, path => defined $m->{kind} ? $common{debug} : $package->{one}{debug})
            if $m->{type} eq 'FETCH';
    }
    is($ready, $n, '... all become ready, and one that waited for a lease');
    is($t->stats->{lease_bytes}, 0, 'no lease is left');
    $c->close;
}

restart('--quota', '4g');    # 128 MiB are available
{
    my ($c, $liar) = ($t->client, $t->client);
    my $m = ingest($liar, 1, 'one');
    is($m->{length}, $MIB, 'a usual lease');
    $c->ensure(1, key('one'));
    ok($c->sync, '... for one of two');
    $liar->send(MORE => ticket => 1, length => $MIB);
    is($liar->recv->{type}, 'END', 'MORE that is not more: disconnected');
    $t->wait_log(qr/MORE that asks for no more than it has/);
    is_companion($c->recv, 1, '... the other is told to fetch');
    $liar->close;

    $c->send(MORE => ticket => 1, length => 100 << 20);
    $m = $c->recv;
    is_companion($m, 1, 'MORE: again');
    is($m->{length}, 100 << 20, '... with the same lease');
    $c->send(MORE => ticket => 1, length => (128 << 20) + 1);
    is_incomplete('more than there is', $c->recv, qr/larger than the room/);
    is($t->stats->{supplement_bytes}, 0, '... the lease is returned');
}

# --- lost clients ---

restart('--fetch-timeout', 3);
{
    my ($a, $b) = ($t->client, $t->client);
    is_companion(ingest($a, 1, 'one'), 1, 'one of two is told to fetch');
    $b->ensure(2, key('one'));
    $a->close;
    is_companion($b->recv, 2, 'it leaves: the other is');
    $b->send(CANCEL => ticket => 2);
    ok($t->wait_stat(flights => 0), 'it cancels, too: forgotten');
    is(scalar(shown('one')), undef, '... nothing is stored');
    is($t->stats->{supplement_bytes}, 0, '... the lease is returned');

    is_companion(ingest($b, 3, 'one'), 3, 'sent');
    my $m = $b->recv;
    is("$m->{type} $m->{state}", "NEGATIVE $FAILED", 'it takes too long');
    like($m->{text}, qr/$common{id}: .*--fetch-timeout/,
        '... which is reported');
    $b->send(INGEST => ticket => 3, path => $common{debug});
    ok($b->sync, 'an answer that comes too late is ignored');
    $b->close;
    $t->wait_stat(clients => 1);
    is($t->settled_descriptors($before - 1), $before - 1,
        'no descriptor is leaked');
}

restart();
{
    my $c = $t->client;
    is_companion(ingest($c, 1, 'one'), 1, 'while one client fetches');
    is($t->stop->{code}, 0, '... the daemon is stopped');
}
is($t->verify, 'sound', 'the store is sound');
done_testing();
