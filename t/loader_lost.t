# The connection to the loader breaks at a bad moment, and waiting requests are
# served nevertheless.  The test plays the loader, by
# docs/formats/loader-protocol.md.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymStranger qw(stranger can_read hear welcome say);
use Test::More;

use Socket qw(MSG_PEEK);

my ($ENSURE, $INGEST, $MORE) = (2, 4, 6);
my ($NEGATIVE, $FETCH) = (66, 67);
my $ABSENT = 2;
my $CONNECTIONS = 16;

my $t = SymFolder->new(held => 1, connections => $CONNECTIONS)
    ->allow(qr/worker_connections are not enough/);
my $path = $t->dir . '/stranger';
my $listen = stranger($path);
my $locations = $t->{parts}{locations}
    =~ s/(symbolicate_loader unix:)[^;]+;/$1$path;/r;
$t->load(SymTest::symbol_file('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'));
$t->conf(locations => $locations)->SymTest::start;

# A new connection, and the ticket of the module that it wants.
sub take {
    my ($c, $byte);
    do {
        $c = can_read(can_read($listen)->accept);
        recv $c, $byte, 1, MSG_PEEK;
    } while ($byte eq '');    # closed at once: nginx had none for it
    my ($ticket) = hear(welcome($c), $ENSURE);
    return ($c, $ticket);
}

sub say_fetch {
    my ($c, $ticket, $lease) = @_;
    say($c, $FETCH, 'VVQ<Q<Vv', $ticket, 0, $lease, ~0, 0, 0);    # no companion
    return;
}

sub say_absent {
    my ($c, $ticket) = @_;
    say($c, $NEGATIVE, 'VV4v/a*', $ticket, $ABSENT, (1) x 3,
        'so it is reported');
    return;
}

# --- the loader exits during a fetch; its successor may lend more room ---

my $body = 'x' x 5000;
my $socket = $t->begin(['a.so', SymFolder::id(1)]);
my ($c, $ticket) = take();
say_fetch($c, $ticket, 100);
my $first = $t->asked;    # and it does not answer

close $c;
($c, $ticket) = take();
say_fetch($c, $ticket, 10_000);

# the download for the previous loader may be older than a removal, so the
# source gets another request, with the room that there is now
$t->answer($t->asked, 200, $body);
my ($of, $rest) = hear($c, $INGEST);
is($of, $ticket, 'the file is handed over');
is((unpack 'V4Q<Q<', $rest)[5], length $body, '... all of it');
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false', 'the request is answered');

# too small is reported as before
$socket = $t->begin(['b.so', SymFolder::id(2)]);
($ticket) = hear($c, $ENSURE);
say_fetch($c, $ticket, 100);
$t->answer($t->asked, 200, $body);
($of, $rest) = hear($c, $MORE);
is(unpack('Q<', $rest), length $body, 'more room is requested');
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false', 'the request is answered');

# --- the loader runs, but nginx has no free connection for it ---

sub open_half {
    my $half = $t->connect;
    $t->send_all($half, "GET /__lbheartbeat__ HTTP/1.1\r\nHo");
    return $half;
}

sub alerts { return scalar(() = $t->error_log =~ /are not enough/g) }

# when nginx runs short it closes some half-open connections, which may leave
# one for the loader: repeated until there is none
my $was_short;
for my $round (1 .. 20) {
    $socket = $t->begin(['c.so', SymFolder::id(10 + $round)]);
    ($ticket) = hear($c, $ENSURE);
    my @half = map { open_half() } 1 .. 2 * $CONNECTIONS;
    $t->wait_for(sub { alerts() }, 'all connections are taken');
    my $before = alerts();
    close $c;
    push @half, open_half();    # takes the slot of the closed connection
    can_read($listen);          # the worker reconnects to the loader
    close $_ for @half;

    ($c, $ticket) = take();
    say_absent($c, $ticket);
    is($t->function($t->finish($socket)), 'false',
        'the worker reconnects, and the request is answered');
    $was_short = alerts() > $before;
    last if $was_short;
}
ok($was_short, 'no connection was left for the loader');

close $c;
is($t->end, '', 'the logs are clean');

done_testing();
