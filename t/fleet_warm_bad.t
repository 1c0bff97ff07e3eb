#!/usr/bin/perl

# The list of what a fleet uses most, and the artifacts, come from a bucket that
# anybody may have written to, or that does not work.  A new node is ready when its
# time is over at the latest, its log says why, and no list makes it ask a source.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib qw(crc32);
use Test::More;
use Time::HiRes qw(time);

use SymFleet;

my $LIST = 'ranks.1';
my $NAME = 'a.so';
my $SECONDS = 2;

my $fleet = SymFleet->new(nodes => 1, share => "warm=${SECONDS}s every=200ms");
my $s3 = $fleet->s3;
my ($x) = $fleet->nodes;
my @ids = map { SymFolder::id($_) } 1 .. 4;

sub key { return 'symbols/' . SymFolder::path($NAME, $_[0]) . '.symart' }
sub is_ready { return $_[0]->request('GET', '/__heartbeat__')->{status} == 200 }
sub warmed { my ($node, $how) = @_; return $fleet->metric($node, qq(warmed_total{outcome="$how"})) }
sub list { return $s3->signed('shared', $LIST)->{body} }

# A new node; why it was ready.
sub joins {
    my ($what, $why) = @_;
    $s3->forget if $s3->{server};
    my $began = time;
    my $node = $fleet->add->start;
    $node->allow(qr/symbolicate_share|symbol source/);
    ok(SymTest->wait_for(sub { is_ready($node) }, $what), "$what: a new node is ready");
    cmp_ok(time - $began, '<', $SECONDS + 10, '... not much later than its time');
    ok(SymTest->wait_for(sub { $node->error_log =~ /the warm start/ }, 'the log'), '... its warm start has ended');
    like($node->error_log, $why, '... its log says why');
    is_deeply([ $fleet->gets('symbols') ], [], '... no source was asked') if $s3->{server};
    return $node;
}

sub leaves {
    my ($node) = @_;
    is($node->function($node->ask([ $NAME, $ids[0] ])), 'f0', '... and it answers');
    is($node->end, '', '... nothing unusual in its log');
    $node->{is_down} = 1;
    return;
}

$fleet->upload($NAME, $_, prefix => 'f') for @ids;
$x->ask([ $NAME, $_ ]) for @ids;
$fleet->published(4);
ok(SymTest->wait_for(sub { list() =~ /^SYMRANKS.{4}\x04\0\0\0/s }, 'the list'), 'a list of four modules');
$x->allow(qr/symbolicate_share/);
is($x->end, '', 'nothing unusual in the log');
$x->{is_down} = 1;
my $good = list();

# the test writes the list, and nodes do not
$fleet->{share} = "warm=${SECONDS}s every=1h";

# --- what a list may say ---

for my $case (
    [ 'no list',           'nonsense',                                           qr/not a list of ranks/ ],
    [ 'an empty object',   '',                                                   qr/not a list of ranks/ ],
    [ 'a cut list',        substr($good, 0, length($good) - 1),                  qr/the checksum is wrong/ ],
    [ 'a changed list',    substr($good, 0, 40) . ~substr($good, 40, 1) . substr($good, 41), qr/the checksum is wrong/ ],
    [ 'a list of 9 MiB',   $good . "\0" x (9 << 20),                             qr/the object is too large/ ])
{
    my ($what, $bytes, $why) = @$case;
    $s3->put('shared', $LIST, \$bytes);
    my $node = joins($what, $why);
    is(warmed($node, 'done'), 0, '... without modules');
    leaves($node);
}

$fleet->{share} = "warm=${SECONDS}s every=200ms";
$s3->put('shared', $LIST, \'nonsense');
my $node = joins('a damaged list', qr/not a list of ranks/);
$node->ask([ $NAME, $ids[0] ]);
ok(SymTest->wait_for(sub { list() =~ /^SYMRANKS/ }, 'the list'), '... it writes a new list');
leaves($node);
$fleet->{share} = "warm=${SECONDS}s every=1h";

# The longest list: modules of a source that this fleet does not have.
my ($n_source, $n_ref) = unpack 'x28 x C v', $good;
my $ref = substr $good, 32 + $n_source, $n_ref;
my $at = index $ref, pack 'H*', substr((grep { index($ref, pack 'H*', substr $_, 0, 32) >= 0 } @ids)[0], 0, 32);
my $entries = join '', map {
    my $other = $ref;
    substr $other, $at, 16, pack 'x12 N', $_;
    pack 'V C C v a* a*', 1, 1, 7, $n_ref, 'nowhere', $other;
} 1 .. 32_768;
my $rest = pack('V q<', 32_768, time) . $entries;
$s3->put('shared', $LIST, \('SYMRANKS' . pack('V', crc32($rest)) . $rest));
$node = joins('the longest list', qr/the warm start is complete: 0 artifacts came/);
is(warmed($node, 'absent'), 32_768, '... nothing of it is of use');
leaves($node);

# --- what the bucket lacks ---

$s3->put('shared', $LIST, \$good);
my $artifact = $s3->signed('shared', key($ids[0]))->{body};
$s3->delete('shared', key($ids[1]));
$s3->put('shared', key($ids[2]), \'nonsense');
$s3->put('shared', key($ids[3]), \$artifact);
$s3->forget;
$node = joins('artifacts that are gone, damaged, and of another module', qr/the warm start is complete: 1 artifacts came/);
is(warmed($node, 'done'), 1, '... the good one has come');
is(warmed($node, 'absent'), 3, '... the bucket lacks the others');
is($node->function($node->ask([ $NAME, $_ ])), 'f0', '... requests get them') for @ids;
leaves($node);

$s3->delete('shared', key($ids[1]));
$s3->fault(method => 'GET', url => '/shared/symbols/', hold => 1, times => -1);
$node = $fleet->add->start;
$node->allow(qr/symbolicate_share|symbol source/);
ok(SymTest->wait_for(sub { grep { $_->{url} =~ /a\.so/ } $s3->gets }, 'a GET'), 'a new node waits for an artifact');
my $open = $node->begin([ $NAME, $ids[1] ]);
ok(SymTest->wait_for(sub { $node->loader->stats->{waiting} > @ids }, 'a request'), '... a request, too');
$s3->no_faults;
$s3->release;
is($node->function($node->finish($open)), 'f0', '... it is not in the bucket: the request gets it from the source');
$s3->forget;
leaves($node);

# --- a bucket that does not work ---

for my $case ([ 'the list is stalled', "/shared/$LIST" ], [ 'artifacts are stalled', '/shared/symbols/' ]) {
    my ($what, $url) = @$case;
    $s3->put('shared', $LIST, \$good);
    $s3->fault(method => 'GET', url => $url, hold => 1, times => -1);
    my $stuck = joins($what, qr/the warm start has ended, its time is over/);
    ok(SymTest->wait_for(sub { $stuck->loader->stats->{waiting} == 0 }, 'nothing'), '... and it wants nothing more');
    $s3->no_faults;
    $s3->release;
    leaves($stuck);
}

$s3->fault(method => 'GET', url => "/shared/$LIST", code => 'AccessDenied', times => -1);
$node = joins('the list is forbidden', qr/could not be read: it answered with 403 AccessDenied/);
$s3->no_faults;
leaves($node);

$s3->stop;
$node = joins('no bucket', qr/its time is over/);
is($node->end, '', '... nothing unusual in its log');
$node->{is_down} = 1;
$s3->start;

# --- the loader comes later ---

$s3->put('shared', $LIST, \$good);
$node = $fleet->add;
$node->allow(qr/symbolicate_share|symbolicate_loader|symbolicate_store/);
$node->SymTest::start;
is(is_ready($node), '', 'without a store, a node is not ready');
$node->loader_start;
ok(SymTest->wait_for(sub { is_ready($node) }, 'ready'), '... with one, it is');
ok(SymTest->wait_for(sub { $node->error_log =~ /the warm start/ }, 'the log'), '... its warm start has ended');
leaves($node);

done_testing();
