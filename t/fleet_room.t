#!/usr/bin/perl

# Artifacts on their way to the bucket are in files: these have a limited part of the
# store's quota, and what does not fit is not published.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;
use SymLoader qw(write_file);

my $ROOM = 128 << 10;    # of a store of 16 MiB
my $fleet = SymFleet->new(nodes => 1, quota => '16m');
my ($node) = $fleet->nodes;
my $s3 = $fleet->s3;
my $n = 0;

# Names that do not compress.
sub big {
    my ($name) = @_;
    my $id = SymFolder::id(++$n);
    my $text = "MODULE Linux x86_64 $id $name\n";
    srand $n;
    for my $i (0 .. 999) {
        my $random = join '', map { ('a' .. 'z', 'A' .. 'Z', 0 .. 9)[ rand 62 ] } 1 .. 64;
        $text .= sprintf "FUNC %x 40 0 f%s\n", 0x1000 + $i * 0x40, $i ? $random : 0;
    }
    $fleet->upload($name, $id, text => $text);
    return $id;
}

my @ids = map { big('big.so') } 1 .. 4;
$s3->fault(method => 'PUT', url => '^/shared/', hold => 1, times => -1);
is($node->function($node->ask([ 'big.so', $_ ])), 'f0', 'a request is answered while artifacts wait') for @ids;
my $dropped = sub { $fleet->metric($node, 'published_total{outcome="dropped"}') };
ok(SymTest->wait_for(sub { $dropped->() > 0 }, 'one is dropped'), 'an artifact that does not fit is dropped');
my $bytes = $node->loader->stats->{share_bytes};
cmp_ok($bytes, '>', 0, 'files are on their way');
cmp_ok($bytes, '<=', $ROOM, '... in their part of the quota');

$s3->no_faults->release;
ok(SymTest->wait_for(sub { $node->loader->stats->{share_bytes} == 0 }, 'no file is left'),
    'the bucket answers: their room is free again');
my $done = $fleet->metric($node, 'published_total{outcome="done"}');
is($done + $dropped->(), 4, 'all others were published');

my $id = big('more.so');
is($node->function($node->ask([ 'more.so', $id ])), 'f0', 'another file');
is($fleet->published($done + 1), $done + 1, '... is published');

# --- an object to which an artifact is added ---

sub zstd {
    my ($bytes) = @_;
    my $file = write_file($node->{dir} . '/bytes', $bytes);
    return scalar `zstd -cq < $file`;
}

# A module whose object in the bucket has an artifact of another version only.
my $added = sub {
    my ($bytes, %fault) = @_;
    my $new = SymFolder::id(++$n);
    my $path = SymFolder::path('other.so', $new);
    $fleet->upload('other.so', $new);
    srand $n;
    my $other = 'SYMART' . pack('vQ<', 4, 16 + $bytes) . join '', map { chr int rand 256 } 1 .. $bytes;
    $s3->put('shared', "symbols/$path.symart", \zstd($other));
    $s3->forget;
    $s3->fault(%fault) if %fault;
    is($node->function($node->ask([ 'other.so', $new ])), 'f0', "an object of $bytes bytes of another version");
    return;
};
my $puts = sub { return scalar grep { $_->{method} eq 'PUT' && $_->{url} =~ m{^/shared/} } $s3->log };
my $is_free = sub { return SymTest->wait_for(sub { $node->loader->stats->{share_bytes} == 0 }, 'no file is left') };

$added->(40_000, method => 'PUT', url => '^/shared/', hold => 1);
ok(SymTest->wait_for(sub { $puts->() == 1 }, 'a PUT'), '... is added to');
cmp_ok($node->loader->stats->{share_bytes}, '>', 40_000, '... its bytes are counted');
cmp_ok($node->loader->stats->{share_bytes}, '<=', $ROOM, '... in their part of the quota');
$s3->no_faults->release;
ok($is_free->(), '... until it is written');

$added->(100_000);
ok(SymTest->wait_for(sub { $node->error_log =~ /artifacts of "other.so.*" were not published: the object is too large/ },
    'the log'), '... does not fit: the log says so');
is($puts->(), 0, '... nothing is written');
ok($is_free->(), '... its room is free again');

# --- a worker that is gone ---

$s3->fault(method => 'PUT', url => '^/shared/', hold => 1, times => -1);
$id = big('last.so');
is($node->function($node->ask([ 'last.so', $id ])), 'f0', 'another one');
ok(SymTest->wait_for(sub { $node->loader->stats->{share_bytes} > 0 }, 'a file is made'), '... is on its way');
kill 'KILL', $node->workers;
ok(SymTest->wait_for(sub { $node->loader->stats->{share_bytes} == 0 }, 'no file is left'),
    '... until its worker dies');
$s3->no_faults->release;

$node->allow(qr/exited on signal 9|symbolicate_share/);
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
