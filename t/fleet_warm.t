#!/usr/bin/perl

# A new node takes what its fleet uses most from the bucket before its health path
# says that it is ready; so its first requests need no source.  Whatever the bucket
# has or does, the node is ready when its time is over.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes qw(time);

use SymFleet;

my $LIST = 'ranks.1';
my $NAME = 'a.so';

my $fleet = SymFleet->new(nodes => 2, share => 'warm=60s every=200ms');
my $s3 = $fleet->s3;
my ($x, $y) = $fleet->nodes;
my @ids = map { SymFolder::id($_) } 1 .. 40;

sub key { return 'symbols/' . SymFolder::path($NAME, $_[0]) . '.symart' }
sub health { return $_[0]->request('GET', '/__heartbeat__') }
sub is_ready { return health($_[0])->{status} == 200 }
sub warmed { my ($node, $how) = @_; return $fleet->metric($node, qq(warmed_total{outcome="$how"})) }

sub until_ready {
    my ($node, $what) = @_;
    return ok(SymTest->wait_for(sub { is_ready($node) }, $what), $what);
}

# Whether the list in the bucket names all of these modules.
sub lists {
    my $list = $s3->signed('shared', $LIST);
    return $list->{status} == 200 && !grep { index($list->{body}, pack 'H*', substr $_, 0, 32) < 0 } @_;
}

# --- two nodes use modules, a third one starts ---

until_ready($_, 'a node of a new fleet is ready: there is no list') for $x, $y;
$fleet->upload($NAME, $_, prefix => "f$_") for @ids;
$x->ask([ $NAME, $_ ]) for @ids[ 0 .. 24 ];
$y->ask([ $NAME, $_ ]) for @ids[ 20 .. 39 ];
$fleet->published(40);
ok(SymTest->wait_for(sub { lists(@ids) }, 'the list'), 'both nodes add to one list');

$s3->forget;
$s3->fault(method => 'GET', url => '/shared/symbols/', hold => 1, times => -1);
my $z = $fleet->add->start;
my $r = health($z);
is($r->{status}, 503, 'a third node starts: it is not ready');
like($r->{body}, qr/filled with what the fleet uses most/, '... says why');
is($z->request('GET', '/__lbheartbeat__')->{status}, 200, '... is alive');
$s3->no_faults;
$s3->release;
until_ready($z, '... then it is ready');
is(warmed($z, 'done'), 40, '... with all modules');
$s3->forget;
is($z->function($z->ask([ $NAME, $_ ])), "f${_}0", 'the first request for a module is answered') for @ids;
is_deeply([ $fleet->gets('symbols') ], [], '... without a request to the source');
is_deeply([ grep { $_ ne $LIST } $fleet->gets('shared') ], [], '... or for an artifact');
is($fleet->converted, 40, 'each file was converted once');

# --- a start with a full store, a reload ---

$z->stop;
$z->SymTest::start;
until_ready($z, 'a restart: the node is ready');
is(warmed($z, 'present'), 40, '... because it had all modules');
$s3->fault(method => 'GET', url => '/shared/', hold => 1, times => -1);
$z->reload;
ok(is_ready($z), 'a reload does not fill the store again');
$s3->no_faults;
$s3->release;

# --- an image with a store of its own ---

my $artifacts = $x->dir . '/artifacts';
$x->symloader('export', $artifacts);
my $image = $fleet->add;
$image->symloader('load', '--quiet', $artifacts);
$s3->forget;
$image->start;
until_ready($image, 'a node with an exported store');
is(warmed($image, 'present'), 25, '... has what was exported');
is(warmed($image, 'done'), 15, '... and takes the rest from the bucket');
is_deeply([ $fleet->gets('symbols') ], [], '... not from the source');

$_->allow(qr/symbolicate_share/) for $fleet->nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
