# The connection to the loader breaks at a bad moment: whoever waits is served all
# the same.  The loader is a stranger here, who says what the test wants, as
# docs/loader-protocol.md has it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

use IO::Select;
use IO::Socket::UNIX;
use Socket qw(MSG_PEEK SOCK_SEQPACKET);

my ($HELLO, $ENSURE, $INGEST, $MORE, $GIVEN) = (1, 2, 4, 6, 11);
my ($WELCOME, $NEGATIVE, $FETCH) = (64, 66, 67);
my $MAGIC = 0x4c53;
my $ABSENT = 2;
my $CONNECTIONS = 16;

my $t = SymFolder->new(held => 1, connections => $CONNECTIONS)
    ->allow(qr/worker_connections are not enough/);
my $path = $t->dir . '/stranger';
my $listen = IO::Socket::UNIX->new(Type => SOCK_SEQPACKET, Local => $path,
    Listen => 8) or die "$path: $!";
chmod 0777, $path;
my $locations = $t->{parts}{locations}
    =~ s/(symbolicate_loader unix:)[^;]+;/$1$path;/r;
$t->load(SymTest::symbol_file('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'));
$t->conf(locations => $locations)->SymTest::start;

sub can_read {
    my ($fh) = @_;
    IO::Select->new($fh)->can_read($SymTest::PATIENCE) or die 'nobody speaks';
    return $fh;
}

# Of this type; its number, which is the ticket, and the bytes behind it.
sub hear {
    my ($c, $type) = @_;
    sysread can_read($c), my $packet, 8192 or die 'nginx is gone';
    my ($magic, $got, $number, $rest) = unpack 'vvVa*', $packet;
    is("$magic $got", "$MAGIC $type", "nginx says $type");
    return ($number, $rest);
}

# A new connection, and the ticket of the one that is wanted.
sub welcome {
    my ($c, $byte);
    do {
        $c = can_read(can_read($listen)->accept);
        recv $c, $byte, 1, MSG_PEEK;
    } while ($byte eq '');    # it went at once: nginx had no room for it
    hear($c, $HELLO);
    hear($c, $GIVEN);
    syswrite $c, pack 'vvV', $MAGIC, $WELCOME, 1;
    my ($ticket) = hear($c, $ENSURE);
    return ($c, $ticket);
}

sub say_fetch {
    my ($c, $ticket, $lease) = @_;
    syswrite $c, pack 'vvVQ<', $MAGIC, $FETCH, $ticket, $lease;
    return;
}

sub say_absent {
    my ($c, $ticket) = @_;
    syswrite $c, pack 'vvVV4v/a*', $MAGIC, $NEGATIVE, $ticket, $ABSENT,
        (1) x 3, 'so it is said';
    return;
}

# --- a larger lease comes while a fetch runs that began with a smaller one ---

my $body = 'x' x 5000;
my $socket = $t->begin(['a.so', SymFolder::id(1)]);
my ($c, $ticket) = welcome();
say_fetch($c, $ticket, 100);
my $source = $t->asked;

close $c;
($c, $ticket) = welcome();
say_fetch($c, $ticket, 10_000);
$t->request('GET', '/__lbheartbeat__');    # nginx has read it
$t->answer($source, 200, $body);

# the source is asked again, with the room that there is now
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

    ($c, $ticket) = welcome();
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
