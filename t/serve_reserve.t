#!/usr/bin/perl

# A source whose files take long to convert does not stop the others: a source
# without a working converter gets one beyond --jobs.  All sources named in
# requests count as one source, because a request can name any number of them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);
use SymServe;

my $ID = '00112233445566778899AABBCCDDEEFF1';
my $n = 0;
my $t = SymServe->new(faults => 1);
$t->serve('--jobs', 2, '--convert-cpu', 600);
my $c = $t->client;

# Hands a module of a source over; returns its ticket.
sub bring {
    my ($scope, $is_slow) = @_;
    my $name = 'm' . ++$n;
    my $path = $t->file("$name.sym", $is_slow ? "FAULT hang\n" : sym_text($name, $ID));
    $c->send(ENSURE => ticket => $n, scope => $scope, key => "$name/$ID");
    my $m = $c->recv;
    $m->{type} eq 'FETCH' && $m->{ticket} == $n or die "no FETCH: $m->{type} $m->{ticket}";
    $c->send(INGEST => ticket => $n, path => $path);
    return $n;
}

sub is_ready {
    my ($ticket, $what) = @_;
    my $m = $c->recv;
    is("$m->{type} $m->{ticket}", "READY $ticket", $what);
    return;
}

bring('slow', 1) for 1 .. 4;
$t->wait_stat(conversions_running => 2);
pass('a source with slow files has both converters');
is_ready(bring('healthy', 0), 'a module of another source is converted');

bring('given:0123', 1);
$t->wait_stat(conversions_running => 3);
pass('a source of a request gets the reserve');
bring('given:4567', 1);
bring('healthy', 0);
$c->sync;
is($t->stats->{conversions_running}, 3, 'there is one reserve');
is($t->stop->{code}, 0, 'a clean end');

done_testing();
