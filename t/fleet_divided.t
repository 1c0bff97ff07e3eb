#!/usr/bin/perl

# Two nodes that do not reach each other, but the bucket: after a node has waited for
# the other one in vain, it takes from the bucket what that one has made meanwhile.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;

my $fleet = SymFleet->new(nodes => 2, peers => 1, files => 1, relayed => 1, timeout => '4s');
my ($x, $y) = $fleet->nodes;
my %function = map { SymFolder::id($_) => "f${_}_0" } 1 .. 8;
$fleet->upload('a.so', SymFolder::id($_), prefix => "f${_}_") for 1 .. 8;

$fleet->cut($x);
my @open = map { my $id = $_; map { [ $_, $id, $_->begin([ 'a.so', $id ]) ] } $x, $y } sort keys %function;
my @wrong = grep { $_->[0]->function($_->[0]->finish($_->[2])) ne $function{ $_->[1] } } @open;

is(scalar @wrong, 0, 'both nodes answer');
is($fleet->converted, 8, '... each module was converted once');
is($fleet->file_gets, 8, '... and fetched once');
my @waited = map { $_->error_log =~ /symbolicate_share, peers: timeout/g } $x, $y;
cmp_ok(scalar @waited, '>', 0, '... although they have waited for each other');

$_->allow(qr/symbolicate_share|upstream/) for $x, $y;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
