# The connection to the loader breaks at a bad moment: whoever waits is served all
# the same.  The loader is a stranger here, who says what the test wants, as
# docs/formats/loader-protocol.md has it.

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

# A new connection, and the ticket of the one that is wanted.
sub take {
    my ($c, $byte);
    do {
        $c = can_read(can_read($listen)->accept);
        recv $c, $byte, 1, MSG_PEEK;
    } while ($byte eq '');    # it went at once: nginx had no room for it
    my ($ticket) = hear(welcome($c), $ENSURE);
    return ($c, $ticket);
}

sub say_fetch {
    my ($c, $ticket, $lease) = @_;
    say($c, $FETCH, 'VQ<', $ticket, $lease);
    return;
}

sub say_absent {
    my ($c, $ticket) = @_;
    say($c, $NEGATIVE, 'VV4v/a*', $ticket, $ABSENT, (1) x 3, 'so it is said');
    return;
}

# --- the loader goes while a fetch runs: its successor may lend more ---

my $body = 'x' x 5000;
my $socket = $t->begin(['a.so', SymFolder::id(1)]);
my ($c, $ticket) = take();
say_fetch($c, $ticket, 100);
my $first = $t->asked;    # and it does not answer

close $c;
($c, $ticket) = take();
say_fetch($c, $ticket, 10_000);

# what was begun for the loader before may be older than what it has removed, so
# the source is asked once more, and there is the room that there is now
$t->answer($t->asked, 200, $body);
my ($of, $rest) = hear($c, $INGEST);
is($of, $ticket, 'the file is handed over');
is((unpack 'V3Q<Q<', $rest)[4], length $body, '... all of it');
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false', 'the request is answered');

# too small is told as before
$socket = $t->begin(['b.so', SymFolder::id(2)]);
($ticket) = hear($c, $ENSURE);
say_fetch($c, $ticket, 100);
$t->answer($t->asked, 200, $body);
($of, $rest) = hear($c, $MORE);
is(unpack('Q<', $rest), length $body, 'more room is asked for');
say_absent($c, $ticket);
is($t->function($t->finish($socket)), 'false', 'the request is answered');

# --- the loader is there, but nginx has no connection left for it ---

sub open_half {
    my $half = $t->connect;
    $t->send_all($half, "GET /__lbheartbeat__ HTTP/1.1\r\nHo");
    return $half;
}

sub alerts { return scalar(() = $t->error_log =~ /are not enough/g) }

# nginx closes some of the half ones when it runs short, so it may have a place
# for the loader all the same: tried until it had none.
my $was_short;
for my $round (1 .. 20) {
    $socket = $t->begin(['c.so', SymFolder::id(10 + $round)]);
    ($ticket) = hear($c, $ENSURE);
    my @half = map { open_half() } 1 .. 2 * $CONNECTIONS;
    $t->wait_for(sub { alerts() }, 'all connections are taken');
    my $before = alerts();
    close $c;
    push @half, open_half();    # takes the place of the one that went
    can_read($listen);          # the loader is looked for
    close $_ for @half;

    ($c, $ticket) = take();
    say_absent($c, $ticket);
    is($t->function($t->finish($socket)), 'false',
        'the loader is looked for again, and the request answered');
    $was_short = alerts() > $before;
    last if $was_short;
}
ok($was_short, 'no connection was left for the loader');

close $c;
is($t->end, '', 'the logs are clean');

done_testing();
