#!/usr/bin/perl

# Many requests that arrive together share the time of a turn of the event loop:
# when it is spent, each of the others waits for a turn of its own.  One such
# body is far below the limit of a turn; all of them together are not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymMetrics qw(parse_page);
use SymTest;

my $N = 300;
my $t = SymTest->new->conf(locations => <<'CONF')->start;
        client_body_buffer_size 256k;
        location /atos    { symbolicate atos; }
        location /metrics { symbolicate_metrics; }
        location /__      { symbolicate_health; }
CONF
my ($worker) = $t->workers;

my $body = '{"addresses":[],"x":{' . join(',', map {qq("$_":0)} 1 .. 3000) . '},"y":['
    . join(',', map { '1.' . '7' x 20 } 1 .. 1000) . ']}';
cmp_ok(length $body, '<', 64 << 10, 'a body that fits the buffer of a socket');

# The worker has read all headers, and finds all bodies when it continues.
my ($head) = $t->request_text('POST', '/atos', body => $body) =~ /\A(.*?\r\n\r\n)/s;
my @sockets = map { $t->connect } 1 .. $N;
$t->send_all($_, $head) for @sockets;
$t->request('GET', '/__lbheartbeat__') for 1 .. 2;
kill STOP => $worker;
$t->send_all($_, $body) for @sockets;
kill CONT => $worker;
my %n;
$n{$t->raw_response($_)->{status} // 'none'}++ for @sockets;
is_deeply([keys %n], [400], 'all are answered: without addresses');

my ($value) = parse_page($t->request('GET', '/metrics')->{body});
is($value->{'turn_seconds_bucket{le=0.1}'}, $value->{turn_seconds_count},
    'no turn was long') if !SymTest::is_slow();

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
