#!/usr/bin/perl

# A client may have 64 files that are not answered yet.  The next one is refused, and
# its connection stays: a worker has requests of many people on it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymServe;

my $t = SymServe->new(faults => 1);
$t->serve('--jobs', 1, '--convert-cpu', 600);
my $c = $t->client;
my $hang = $t->file('hang', "FAULT hang\n");
$c->send(DEPOSIT => ticket => $_, path => $hang) for 1 .. 64;
$c->sync;
for my $type (qw(DEPOSIT UPLOAD)) {
    my %key = $type eq 'UPLOAD' ? (key => 'a/00112233445566778899AABBCCDDEEFF1') : ();
    $c->send($type => ticket => 65, path => $hang, %key);
    my $m = $c->recv;
    is_deeply([ @$m{qw(type ticket text)} ], [ 'DONE', 65, 'too many files at once' ], "$type: one too many")
        or diag explain $m;
}
$c->sync;
pass('the connection stays');
$c->close;
kill 'KILL', $t->converters;
is($t->stop->{code}, 0, 'stopped');
done_testing();
