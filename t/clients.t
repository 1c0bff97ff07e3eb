# Clients leave in the middle, read slowly, send the next request before they
# have the last answer, or keep a connection for hours.  None of this may cost
# the worker more than the request itself: nothing leaks, others are served.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');

my $t = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => <<'CONF')->start;
        symbolicate_slice       50;
        client_body_buffer_size 32m;
        keepalive_requests      100000;
        gzip                    on;
        gzip_types              application/json;
CONF

sub body_of {
    my ($frames) = @_;
    return $t->json({ jobs => [{ memoryMap => [[@module]],
        stacks => [[map { [0, ($_ * 7919) % 3_000_000] } 1 .. $frames]] }] });
}

my $short = body_of(2);
my $frames = SymTest::is_slow() ? 5_000 : 30_000;
my $long = body_of($frames);
my $want_short = $t->post('/symbolicate/v5', $short)->{body};
my $want_long = $t->post('/symbolicate/v5', $long)->{body};
cmp_ok(length $want_long, '>', 70 * $frames, 'a large answer');

# --- keepalive and pipelining ---

my $socket = $t->connect;
my $good = 0;
for (1 .. 500) {
    $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
        body => $short, keepalive => 1));
    $good++ if $t->response($socket)->{body} eq $want_short;
}
is($good, 500, '500 requests on one connection');

my $ask = $t->request_text('POST', '/symbolicate/v5', body => $short,
    keepalive => 1);
my $ask_long = $t->request_text('POST', '/symbolicate/v5', body => $long,
    keepalive => 1);
$t->send_all($socket, $ask x 20);
$good = grep { $t->response($socket)->{body} eq $want_short } 1 .. 20;
is($good, 20, '20 at once: answered in a row');

$t->send_all($socket, $ask . $ask_long . $ask);
ok($t->response($socket)->{body} eq $want_short, 'short,');
ok($t->response($socket)->{body} eq $want_long, 'long,');
ok($t->response($socket)->{body} eq $want_short, 'short: in their order');
close $socket;

# --- a client that reads slowly delays no other ---

my $slow = $t->connect(receive_buffer => 4096);
$t->send_all($slow, $t->request_text('POST', '/symbolicate/v5',
    body => $long));
$good = grep { $t->post('/symbolicate/v5', $short)->{body} eq $want_short }
    1 .. 50;
is($good, 50, 'others are served while one does not read');
ok($t->response($slow)->{body} eq $want_long, 'it gets all of its answer');
close $slow;

# --- compressed on the way out ---

my $r = $t->post('/symbolicate/v5', $long, 'Accept-Encoding' => 'gzip');
is($r->{headers}{'content-encoding'}, 'gzip', 'nginx compresses the answer');
require IO::Uncompress::Gunzip;
IO::Uncompress::Gunzip::gunzip(\$r->{body} => \my $plain);
ok($plain eq $want_long, 'it inflates to the same');

# --- limited in its rate ---

$t->stop;
is($t->log_trouble, '', 'the log is clean so far');

my $limited = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => 'limit_rate 2m; client_body_buffer_size 32m;')->start;
$r = $limited->post('/symbolicate/v5', $long);
ok($r->{body} eq $want_long, 'limit_rate: all of it arrives');
is($limited->stop->log_trouble, '', 'limit_rate: the log is clean');

# --- clients that go away ---

$t = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => <<'CONF')->start;
        symbolicate_slice       20;
        client_body_buffer_size 32m;
CONF

my $text = $t->request_text('POST', '/symbolicate/v5', body => $long);
my @cuts = (0, 10, 100, length($text) / 2, length($text) - 1, length $text);
for my $round (1 .. (SymTest::is_slow() ? 3 : 10)) {
    for my $cut (@cuts) {
        my $gone = $t->connect;
        $t->send_all($gone, substr $text, 0, $cut);
        close $gone;
    }
}

# reads the beginning of an answer, then resets the connection
for (1 .. 5) {
    my $gone = $t->connect(receive_buffer => 4096);
    $t->send_all($gone, $text);
    sysread $gone, my $some, 100;
    setsockopt $gone, Socket::SOL_SOCKET(), Socket::SO_LINGER(),
        pack 'II', 1, 0;
    close $gone;
}

ok($t->post('/symbolicate/v5', $long)->{body} eq $want_long,
    'the next client is served');

# everything that those requests held is released: no snapshot is left
$t->wait_for(sub { $t->symloader('stat') =~ / 0 reading$/m },
    'no reader of the store is left');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
