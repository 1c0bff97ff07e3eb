#!/usr/bin/perl

# A loader without free descriptors logs it, waits without using the processor,
# and serves as before when descriptors are free again.  A file for which it has
# none fails alone: the connection that passed it belongs to a worker with other
# tickets.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IO::Socket::UNIX;
use Socket qw(SOCK_SEQPACKET);
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
my $file = $t->file('body', sym_text('libfoo.so', $ID));
$t->limit('-n 48');
$t->serve('--jobs', 1);
my $passes = $t->client;
is($passes->ensure(1, "libfoo.so/$ID", 1)->{type}, 'FETCH',
    'a module is requested');

# more than it may have: the last ones wait
my @idle = map { IO::Socket::UNIX->new(Peer => $t->socket_path,
    Type => SOCK_SEQPACKET) // die "connect: $!" } 1 .. 60;
like($t->wait_log(qr/clients: /), qr/Too many open files/,
    'waiting clients are logged');

$passes->send(INGEST => ticket => 1, path => $file, ttl => [1, 1, 1]);
my $m = $passes->recv;
is($m->{type}, 'NEGATIVE', 'a file without a free descriptor is refused');
like($m->{text}, qr/no descriptor is free for its file: Too many open files/, 'the reason');
$passes->send(DEPOSIT => ticket => 2, path => $file);
like($passes->recv->{text}, qr/no descriptor is free/,
    'a file that no client waits for');

close $_ for @idle;
ok($t->wait_stat('clients', 2), 'they leave: the client and this test stay');
is($passes->ensure(3, "libbar.so/$ID", 1)->{type}, 'FETCH',
    'the same client is told to fetch again');
$passes->send(INGEST => ticket => 3, path => $file);
is($passes->recv->{type}, 'READY', '... and its file is accepted');
unlike($t->stop->{err}, qr/client disconnected: (?!no HELLO)/, 'no connection was ended');
done_testing();
