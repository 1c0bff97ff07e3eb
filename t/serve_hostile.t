#!/usr/bin/perl

# A client that sends invalid messages, does not read its answers, or sends
# nothing at all loses its own connection; others are served meanwhile, and no
# descriptor is leaked.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new->serve('--jobs', 1);
my $good = $t->client;
my $file = $t->file('body', sym_text('libfoo.so', $ID));
my $n = 0;

sub still_serves {
    my ($what) = @_;
    my $name = 'good' . ++$n;

    is($good->ensure($n, "$name/$ID", 1)->{type}, 'FETCH',
        "$what: FETCH still works");
    $good->send(INGEST => ticket => $n, path => $file);
    is($good->recv->{type}, 'READY', '... and READY');
}

still_serves('before');

$t->stats;
my $before = $t->descriptors;

# --- version ---

{
    my $c = $t->client(version => 99);
    is($c->hello->{type}, 'REFUSED', 'another version: REFUSED');
    like($c->hello->{text}, qr/version 19\b.*\b99\b/, '... with all');
    is($c->recv->{type}, 'END', '... and disconnected');
    $c->close;
}

# --- invalid messages: each with the line that the log must have ---

my $hello = pack('vvV', 0x4c53, 1, 1);
my $reference = pack '(C v/a)*', 2 => '1', 3 => pack('C H32 N', 1, substr($ID, 0, 32), 1),
    6 => 'libfoo.so';
my $of_source = pack 'vv V4 C3 v', 0x4c53, 2, 1, 0, 1, 0x7ffff, 1, 0, 0, 0;
my $ensure = $of_source . pack 'v/a', $reference;
my $ingest = pack('vvV', 0x4c53, 4, 1) . pack('V4 Q<2 v3', 0, 1, 1, 1, 0, 10, 0, 0, 0);
my @bad = (
    [ 'one byte', ["\x53"], qr/./ ],
    [ 'a stranger', ["GET / HTTP/1.0\r\n\r\n"], qr/not a message of the loader/ ],
    [ 'no such type', [ pack('vv', 0x4c53, 200) ], qr/no such message/ ],
    [ 'cut short', [ substr($ensure, 0, -1) ], qr/./ ],
    [ 'a byte too many', [ $ensure . 'x' ],
      qr/more bytes than the message has/ ],
    [ 'a name with a slash',
      [ $of_source . pack 'v/a', $reference =~ s{libfoo.so}{libfoo/so}r ],
      qr/an object that no store can have/ ],
    [ 'a name too long',
      [ $of_source . pack 'v/a', pack '(C v/a)*', 2 => '1', 6 => 'n' x 256 ],
      qr/not a reference/ ],
    [ 'an id that is not canonical',
      [ pack('vvV', 0x4c53, 7, 1) . pack('v v/a v/a', 0, 'n', lc $ID) ],
      qr/not the key of a module/ ],
    [ 'too long', [ 'x' x 8193 ], qr/too long/ ],
    [ 'HELLO again', [$hello], qr/HELLO twice/ ],
    [ 'a message that only a loader sends', [ pack('vvVV', 0x4c53, 65, 1, 0) ],
      qr/only a loader sends/ ],
    [ 'INGEST without a descriptor', [$ingest], qr/without its descriptor/ ],
    [ 'INGEST with two', [ $ingest, $file, $file ], qr/an unexpected descriptor/ ],
    [ 'INGEST with twenty', [ $ingest, ($file) x 20 ], qr/./ ],
    [ 'ENSURE with one', [ $ensure, $file ], qr/an unexpected descriptor/ ],
    [ 'garbage with one', [ 'garbage', $file ], qr/not a message/ ],
);

for (@bad) {
    my ($what, $raw, $line) = @$_;
    my $c = $t->client;

    $c->raw(@$raw);
    is($c->recv->{type}, 'END', "$what: disconnected");
    like($t->wait_log(qr/client disconnected: /), $line, '... the log says why');
    $c->close;
}

{
    my $c = $t->client(version => 0);
    $c->raw($ensure);
    is($c->recv->{type}, 'END', 'no HELLO first: disconnected');
    $t->wait_log(qr/before HELLO/);
    $c->close;

    $c = $t->client;
    $c->ensure(1, "twice.so/$ID", 1);
    $c->send(ENSURE => ticket => 1, key => "other.so/$ID");
    is($c->recv->{type}, 'END', 'a ticket that is already open: disconnected');
    $t->wait_log(qr/a ticket that is open already/);
    $c->close;
}

# --- a client that asks for more and more room ---

{
    my ($c, $next) = ($t->client, $t->client);
    my $lease = $c->ensure(1, "more.so/$ID", 1)->{length};
    $next->ensure(1, "more.so/$ID");
    ok($next->sync, 'another waits for the same');
    $c->send(MORE => ticket => 1, length => $lease);
    is($c->recv->{type}, 'END', 'MORE that is not more: disconnected');
    $t->wait_log(qr/MORE that asks for no more than it has/);
    is($next->recv->{type}, 'FETCH', '... the other one is elected');
    $next->send(CANCEL => ticket => 1);
    $_->close for $c, $next;
}

# --- harmless: answers to requests that are over, or never existed ---

{
    my $c = $t->client;

    $c->send(CANCEL => ticket => 77);
    $c->send(MORE => ticket => 77, length => 1);
    $c->send(NONE => ticket => 77, state => 2, text => 'no');
    $c->send(INGEST => ticket => 77, path => $file);
    ok($c->sync, 'unexpected answers are ignored');
    $c->close;
}

still_serves('after all that');
ok($t->wait_stat(clients => 2), 'all others are disconnected');    # not $good
is($t->settled_descriptors($before), $before, 'no descriptor is leaked');

# --- a client that does not read its answers ---

{
    my $c = $t->client;
    my $sent = $t->_ask("flood $c->{name} STAT 40000");

    ok($sent->{sent} > 0, 'a client sends requests and does not read');
    like($t->wait_log(qr/client disconnected: /), qr/does not read its answers/,
         '... is disconnected in the end');
    still_serves('meanwhile');
    $c->close;
}

# --- too many open tickets ---

{
    my $c = $t->client;
    $t->_ask("flood $c->{name} ENSURE 65540");
    my $m;
    do { $m = $c->recv } while $m->{type} eq 'FETCH';
    is("$m->{type} $m->{state}", 'NEGATIVE 3', 'too many open tickets: refused');
    like($m->{text}, qr/too many modules are pending/, '... why');
    is($t->stats->{waiting}, 65536, '... the others keep waiting');
    $c->send(CANCEL => ticket => 0);
    ok($t->wait_stat(waiting => 65535), '... one ends');
    $c->send(ENSURE => ticket => 70000, key => "after/$ID");
    ok($t->wait_stat(waiting => 65536), '... and makes room for one');
    $c->close;
    ok($t->wait_stat(waiting => 0), '... and no client waits for them');
    is($t->stats->{lease_bytes}, 0, '... no lease is left');
}

still_serves('after these');
is($t->settled_descriptors($before), $before, 'no descriptor is leaked');
is($t->stop->{code}, 0, 'a clean end');
is($t->verify, 'sound', 'the store is sound');

done_testing();
