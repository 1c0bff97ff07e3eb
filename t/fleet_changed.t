#!/usr/bin/perl

# A file of a source is replaced: an event or a DELETE removes its artifacts from the
# bucket of the fleet, too, so no node gets the old ones back.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;

my $fleet = SymFleet->new(nodes => 3);
my ($x, $y, $z) = $fleet->nodes;
my $s3 = $fleet->s3;
my $n = 0;

sub key { my ($name, $id) = @_; return 'symbols/' . SymFolder::path($name, $id) . '.symart' }
sub is_shared { return $s3->signed('shared', key(@_))->{status} == 200 }

sub event {
    my ($key) = @_;
    return qq({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "b"}, "object": {"key": "$key"}}}]});
}

# A module that two nodes have, and whose file is then another.
sub replaced {
    my ($name) = @_;
    my $id = SymFolder::id(++$n);
    $fleet->upload($name, $id, prefix => 'old');
    is($x->function($x->ask([ $name, $id ])), 'old0', "$name: a node has it");
    $fleet->published($n);
    is($y->function($y->ask([ $name, $id ])), 'old0', '... and another');
    ok(is_shared($name, $id), '... and the bucket');
    $fleet->upload($name, $id, prefix => 'new');
    return $id;
}

sub is_new {
    my ($name, $id) = @_;
    is($_->function($_->ask([ $name, $id ])), 'new0', '... a node answers from the new file') for $x, $y, $z;
    return;
}

my $id = replaced('a.so');
my $key = 'nightly/' . SymFolder::path('a.so', $id);
is($_->post('/admin/events', event($key))->{status}, 200, 'an event, with a folder before the path') for $x, $y;
ok(!is_shared('a.so', $id), '... the artifact is gone');
is_new('a.so', $id);

$id = replaced('b.so');
is($_->forget('b.so', $id)->{status}, 200, 'DELETE') for $x, $y;
ok(!is_shared('b.so', $id), '... the artifact is gone');
is_new('b.so', $id);

# --- a bucket that does not remove ---

$id = replaced('c.so');
$s3->fault(method => 'DELETE', code => 'AccessDenied', times => -1);
my $r = $x->post('/admin/events', event(SymFolder::path('c.so', $id)));
is($r->{status}, 503, 'the bucket refuses: the event has to come again');
like($r->{body}, qr/the bucket of the fleet: it answered with 403 AccessDenied/, '... says why');
is($x->function($x->ask([ 'c.so', $id ])), 'old0', '... nothing was removed');
$s3->no_faults;
is($_->post('/admin/events', event(SymFolder::path('c.so', $id)))->{status}, 200, '... again') for $x, $y;
is_new('c.so', $id);

$_->allow(qr/symbolicate/) for $fleet->nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
