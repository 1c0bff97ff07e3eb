#!/usr/bin/perl

# A worker that is told to quit does so when its clients have left in the middle
# of their long requests: it does not wait for these.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');

my $t = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => 'client_body_buffer_size 32m; symbolicate_slice 10;')
    ->start;

sub request {
    my ($frames) = @_;
    return $t->request_text('POST', '/symbolicate/v5',
        body => $t->json({ jobs => [{ memoryMap => [[@module]],
            stacks => [[map { [0, ($_ * 7919) % 3_000_000] } 1 .. $frames]] }] }));
}

my $long = request(100_000);
my @gone = map { $t->connect } 1 .. 3;
$t->send_all($_, $long) for @gone;
my $socket = $t->connect;
$t->send_all($socket, request(2));
is($t->response($socket)->{status}, 200,
    'other requests are answered meanwhile');
close $_ for @gone;

is($t->post_json('/symbolicate/v5', { jobs => [{ memoryMap => [[@module]],
    stacks => [[[0, 7919]]] }] })->{status}, 200, '... and afterwards');
is($t->stop->log_trouble, '', 'it quits');

done_testing();
