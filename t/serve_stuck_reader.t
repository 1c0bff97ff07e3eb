#!/usr/bin/perl

# A process that keeps an old snapshot of the store pins its pages.  The daemon
# gives it time to move on, and does not sleep meanwhile: clients get their
# answers.  After that the modules that need these pages are refused, until the
# reader is gone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use IPC::Open2 qw(open2);
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $t = SymServe->new;
my $n = 0;

sub compile {
    my ($name, @options) = @_;
    my $to = $t->dir . "/$name";

    local $ENV{PATH} = $ENV{SYM_PATH};
    system('gcc', '-O2', '-o', $to, "$FindBin::Bin/lib/$name.c", @options) == 0
        or BAIL_OUT('gcc');
    return $to;
}

my $no_sleep = compile('no_sleep', '-fPIC', '-shared');
my $stuck_reader = compile('stuck_reader', '-llmdb');

# About 2 MiB in the store, an eighth of it.
my $file = $t->file('large', sym_text('any', $ID, functions => 60000, lines => 1));

sub bring {
    my ($c) = @_;
    my $name = 'm' . ++$n;

    is($c->ensure($n, "$name/$ID", 1)->{type}, 'FETCH', "$name: FETCH");
    $c->send(INGEST => ticket => $n, path => $file, ttl => [ 1, 1, 1 ]);
    return $c->recv;
}

# Repeats until one is refused, at most 40 times; returns that answer.
sub bring_until_refused {
    my ($c) = @_;
    my $m = { type => 'READY' };

    for (1 .. 40) {
        $m = bring($c);
        last if $m->{type} ne 'READY';
    }
    return $m;
}

is($t->run('init', '--quota', '16m')->{code}, 0, 'the minimal quota');
$t->serve({ env => { LD_PRELOAD => $no_sleep } }, '--jobs', 1);
my $c = $t->client;
is(bring($c)->{type}, 'READY', 'a module') for 1 .. 20;

my $pid = open2(my $from, my $to, $stuck_reader, $t->store);
is(scalar(<$from>), "reading\n", 'a reader takes a snapshot, and keeps it');

my $m = bring_until_refused($c);
is($m->{type}, 'NEGATIVE', 'the pages are used up');
like($m->{text}, qr/readers hold/, '... why');
$t->client->sync;

close($to);
waitpid($pid, 0);
is(bring($c)->{type}, 'READY', 'the reader is gone: modules are stored again');

my $r = $t->stop;
is($r->{code}, 0, 'a clean end');
unlike($r->{err}, qr/nanosleep/, 'the daemon never slept');
is($t->verify, 'sound', 'the store is sound');

done_testing();
