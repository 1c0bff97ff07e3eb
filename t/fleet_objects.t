#!/usr/bin/perl

# All that the nodes of a fleet have made of a file is one object in their bucket.
# Each node takes what it can read of it, and adds what is missing: a kind that was
# not made first, the knowledge that the file does not give a kind, or another
# version of a kind, next to the one that older nodes read.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Compress::Zlib qw(crc32);
use Test::More;

use SymFleet;
use SymLoader qw(sym_text);

my $fleet = SymFleet->new(nodes => 3);
my ($x, $y, $z) = $fleet->nodes;
my $s3 = $fleet->s3;
my ($n, $published) = (0, 0);

sub next_id { return SymFolder::id(++$n) }
sub key { my ($name, $id) = @_; return 'symbols/' . SymFolder::path($name, $id) . '.symart' }

# --- artifact files (docs/formats/artifact.md) ---

sub artifacts {
    my ($bytes) = @_;
    my @all;
    while (length $bytes) {
        my ($magic, $layout, $length) = unpack 'a6vQ<', $bytes;
        is($magic, 'SYMART', 'an artifact') or return @all;
        my $own = substr $bytes, 0, $length, '';
        my ($version, $kind) = $layout == 3 ? unpack('x16V x32 v/a', $own) : (0, 'other');
        push @all, { kind => $kind, version => $version, bytes => $own };
    }
    return @all;
}

sub kinds { return join ' ', map { $_->{kind} ne '' ? "$_->{kind}.$_->{version}" : '-' } @_ }

sub zstd {
    my ($how, $bytes) = @_;
    my $file = SymLoader::write_file($x->{dir} . '/bytes', $bytes);
    return scalar `zstd $how -cq < $file`;
}

sub object {
    my ($name, $id) = @_;
    return artifacts(zstd('-d', $s3->signed('shared', key($name, $id))->{body}));
}

# The same artifact, as a program with another version of its kind writes it.
sub of_version {
    my ($a, $version, $kind) = @_;
    my $bytes = $a->{bytes};
    substr $bytes, 16, 4, pack 'V', $version;
    substr $bytes, 54, length $kind, $kind if $kind;
    my $texts = 52;
    $texts += 2 + unpack 'v', substr $bytes, $texts, 2 for 1 .. 6;
    substr $bytes, $texts, 4, pack 'V', crc32(substr $bytes, 0, $texts);
    return $bytes;
}

# The question of another node, which may be for any kind.
sub kinds_at {
    my ($node, $kind, $name, $id) = @_;
    my $ref = '02010031031500' . '01' . lc(substr $id, 0, 32) . '00000001' . '06' . unpack 'H*', pack 'v/a', $name;
    my $r = $node->request('GET', '/peer/artifact?source=symbols&path=' . SymFolder::path($name, $id)
        . "&kind=$kind&oldest=1&version=999&ref=$ref");
    return $r->{status} == 200 ? kinds(artifacts($r->{body})) : $r->{status};
}

sub upload {
    my ($name, %o) = @_;
    my $id = next_id();
    $fleet->upload($name, $id, text => sym_text($name, $id) . ($o{more} // ''));
    is($x->function($x->ask([ $name, $id ])), 'f0', "$name: a node makes a symcache");
    is($fleet->published(++$published), $published, '... and publishes it');
    return $id;
}

# --- a kind that was not made first ---

my $id = upload('a.so', more => "STACK CFI INIT 1000 40 .cfa: \$rsp 8 + .ra: .cfa -8 + ^\n");
my ($symcache) = object('a.so', $id);
is(kinds(object('a.so', $id)), 'symcache.3', 'an object in the bucket');
is(kinds_at($x, 'cfi', 'a.so', $id), 'symcache.3 cfi.2', 'unwind rules of the same file');
is($fleet->published(++$published), $published, '... are published');
is(kinds(object('a.so', $id)), 'cfi.2 symcache.3', '... in the same object');

my $converted = $fleet->converted;
$s3->forget;
is(kinds_at($y, 'cfi', 'a.so', $id), 'symcache.3 cfi.2', 'another node takes them');
is_deeply([ $fleet->gets('shared') ], [ key('a.so', $id) ], '... from the bucket');
is($y->function($y->ask([ 'a.so', $id ])), 'f0', '... and the symcache');
is_deeply([ $fleet->gets('shared') ], [ key('a.so', $id) ], '... that came with them');
is_deeply([ $fleet->gets('symbols') ], [], '... no file was fetched');
is($fleet->converted, $converted, '... nor converted');

# --- a kind that the file does not give ---

$id = upload('b.so');
is(kinds_at($x, 'cfi', 'b.so', $id), 'symcache.3 -', 'a file without unwind rules');
is($fleet->published(++$published), $published, '... this is published');
is(kinds(object('b.so', $id)), '- symcache.3', '... in the same object');
$s3->forget;
is(kinds_at($y, 'cfi', 'b.so', $id), 'symcache.3 -', '... another node believes it');
is_deeply([ $fleet->gets('symbols') ], [], '... without the file');

# --- nodes of two versions ---

sub versions {
    my ($what, $name, @others) = @_;
    my $new = next_id();
    my $others = join '', @others;
    $fleet->upload($name, $new);
    $s3->put('shared', key($name, $new), \zstd('', $others));
    is($x->function($x->ask([ $name, $new ])), 'f0', "$what: a node makes its own");
    is($fleet->published(++$published), $published, '... and publishes it');
    my $now = join '', map { $_->{bytes} } object($name, $new);
    is(substr($now, -length $others), $others, '... next to that of the others');
    $s3->forget;
    is($y->function($y->ask([ $name, $new ])), 'f0', '... another node of its version takes it');
    is_deeply([ $fleet->gets('symbols') ], [], '... without the file');
    return;
}

versions('a later version of the kind', 'c.so', of_version($symcache, 4));
versions('an older version of the kind', 'd.so', of_version($symcache, 2));
versions('a kind that is not known', 'e.so', of_version($symcache, 3, 'symcashe'));
versions('a later layout', 'f.so', 'SYMART' . pack('vQ<', 4, 30) . 'x' x 14);

# --- an encrypted object, whose ETag is no MD5, and which changes meanwhile ---

$id = upload('g.so', more => "STACK CFI INIT 1000 40 .cfa: \$rsp 8 + .ra: .cfa -8 + ^\n");
$s3->forget;
$s3->fault(method => 'GET', url => '^/shared/', headers => { 'x-amz-server-side-encryption' => 'aws:kms' }, times => -1);
$s3->fault(method => 'PUT', url => '^/shared/', hold => 1);
is(kinds_at($x, 'cfi', 'g.so', $id), 'symcache.3 cfi.2', 'unwind rules for an encrypted object');
ok(SymTest->wait_for(sub { grep { $_->{method} eq 'PUT' } $s3->log }, 'a PUT'), '... are to be added');
like((grep { $_->{method} eq 'PUT' } $s3->log)[0]{match}, qr/^"\w{32}"$/, '... if it is still the same');
my $others = zstd('', of_version($symcache, 4));
$s3->put('shared', key('g.so', $id), \$others);
$s3->no_faults->release;
ok(SymTest->wait_for(sub { $fleet->metric($x, 'published_total{outcome="present"}') == 1 }, 'the counter'),
    '... it is not: another node has written it');
ok($s3->signed('shared', key('g.so', $id))->{body} eq $others, '... its object stays');

is($y->loader->stats->{unusable_shares}, 0, 'nothing of this was unusable');

$_->allow(qr/symbolicate_share|symbol source/) for $fleet->nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
