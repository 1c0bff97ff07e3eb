#!/usr/bin/perl

# A converter that dies, hangs or sends false results costs only its module:
# waiting clients get malformed with the reason, and the next file is
# converted.  An idle one that dies is replaced.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new(faults => 1);
my ($c, $n);

sub bring {
    my ($text) = @_;
    my $name = 'm' . ++$n;

    $c->ensure($n, "$name/$ID", 1)->{type} eq 'FETCH' or die 'no FETCH';
    $c->send(INGEST => ticket => $n, path => $t->file($name, $text),
             ttl => [ 1, 1000, 1 ]);
    return $c->recv;
}

$t->serve('--jobs', 1, '--convert-cpu', 1);
$c = $t->client;

my ($pid) = $t->wait_converters(1);
ok($pid, 'a converter is ready before the first request');
is(bring(sym_text('a', $ID))->{type}, 'READY', 'a file is converted');
my ($next) = $t->wait_converters(1, $pid);
ok($next, '... by that one, which exits: another waits');

kill('KILL', $next);
ok($t->wait_converters(1, $next), 'killed while idle: it is replaced');
is(bring(sym_text('a', $ID))->{type}, 'READY', '... and the next file is converted');

my %want = (
    crash => qr/crashed: SIG(?:SEGV|ABRT)|ended without/,
    hang => qr/over its CPU time/,
    open => qr/forbidden system call|system call was refused/,
    hide => qr/ended without an answer/,
    'no-module' => qr/broke the protocol/,
);

for my $fault (sort keys %want) {
    my $m = bring("FAULT $fault\n");

    is($m->{type}, 'NEGATIVE', "$fault: NEGATIVE");
    is($m->{state}, 4, '... malformed');
    like($m->{text}, $want{$fault}, '... the reason');
    is_deeply($m->{ttl}, [ 0, $m->{ttl}[1], 0 ],
        '... for the lifetime of malformed ones');
    is(bring(sym_text('a', $ID))->{type}, 'READY', '... the next file is fine');
}

# Limit on the whole conversion, however busy it is: --convert-time.
$t->stop;
$t->serve('--jobs', 1, '--convert-stall', 1);
$c = $t->client;
like(bring("FAULT stall\n")->{text}, qr/made no progress/, 'a standstill');
$t->stop;
$t->serve('--jobs', 1, '--convert-time', '1s');
$c = $t->client;
my $m = bring("FAULT hang\n");
is($m->{state}, 4, 'a conversion that takes too long: malformed');
like($m->{text}, qr/over its time \(--convert-time\)/, '... the reason');

# Killed from outside, as the system does when memory is short.
$t->stop;
$t->serve('--jobs', 1);
$c = $t->client;
($pid) = $t->wait_converters(1);
$c->ensure(++$n, "killed/$ID", 1)->{type} eq 'FETCH' or die 'no FETCH';
$c->send(INGEST => ticket => $n, path => $t->file('killed', "FAULT hang\n"));
$t->wait_stat(conversions_running => 1);
kill('KILL', $pid);
$m = $c->recv;
is($m->{state}, 3, 'a converter that is killed: failed');
like($m->{text}, qr/killed from outside \(SIGKILL: .*out of memory\?\)/,
    '... the reason');
cmp_ok($m->{ttl}[2], '<=', 13, '... it is tried again soon');

# Converters exit with the daemon.
($pid) = $t->wait_converters(1);
is($t->stop->{code}, 0, 'a clean end');
ok(!kill(0, $pid), 'no converter outlives it');
is($t->verify, 'sound', 'the store is sound');

done_testing();
