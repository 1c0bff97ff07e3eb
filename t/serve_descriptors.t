#!/usr/bin/perl

# A loader that has no descriptor left says so, waits without work, and serves as
# before when descriptors are free again.

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
my ($ends, $stays) = map { $t->client } 1 .. 2;
is($ends->ensure(1, "libfoo.so/$ID", 1)->{type}, 'FETCH', 'a module is asked for');

# more than it may have: the last ones wait
my @idle = map { IO::Socket::UNIX->new(Peer => $t->socket_path,
    Type => SOCK_SEQPACKET) // die "connect: $!" } 1 .. 60;
like($t->wait_log(qr/clients: /), qr/Too many open files/, 'clients that wait are told of');

$ends->send(INGEST => ticket => 1, path => $file);
like($t->wait_log(qr/client disconnected: (?!no HELLO)/),
    qr/no descriptor is free for its file: Too many open files/,
    'a file for which there is none: the reason');

close $_ for @idle;
is($stays->ensure(2, "libfoo.so/$ID", 1)->{type}, 'FETCH', 'another client is asked');
$stays->send(INGEST => ticket => 2, path => $file);
is($stays->recv->{type}, 'READY', '... and its file is taken');

is($t->stop->{code}, 0, 'the daemon ends well');
done_testing();
