#!/usr/bin/perl

# Nodes of a fleet share artifacts through a bucket: one node fetches a file and
# converts it, the others take its artifact.  They trust no object of the bucket.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFleet;
use SymLoader qw(sym_text);

my $fleet = SymFleet->new(nodes => 3);
my ($x, $y, $z) = $fleet->nodes;
my $s3 = $fleet->s3;
my $n = 0;

sub next_id { return SymFolder::id(++$n) }
sub key { my ($name, $id) = @_; return 'symbols/' . SymFolder::path($name, $id) . '.symart' }

# --- one conversion for all ---

my $id = next_id();
$fleet->upload('a.so', $id, prefix => 'one');
is($x->function($x->ask(['a.so', $id])), 'one0', 'a node fetches a file');
is($fleet->published(1), 1, '... and publishes its artifact');
is_deeply([ $fleet->paths('PUT', 'shared') ], [ key('a.so', $id) ], '... under the path of the file');

$s3->forget;
is($y->function($y->ask(['a.so', $id])), 'one0', 'another node answers the same');
is($z->function($z->ask(['a.so', $id])), 'one0', '... and a third');
is_deeply([ $fleet->gets('shared') ], [ (key('a.so', $id)) x 2 ], '... from the bucket');
is_deeply([ $fleet->gets('symbols') ], [], '... no file was fetched');
is($fleet->converted, 1, '... nor converted');
is_deeply([ $fleet->paths('PUT', 'shared') ], [], '... or published again');

my ($on_x, $on_y) = map { $_->request('GET', "/admin/explain/a.so/$id")->{json}{sources}[0] } $x, $y;
is($on_y->{$_}, $on_x->{$_}, "explanations: the same $_") for qw(outcome name);

# --- what is not trusted ---

sub bad {
    my ($what, $bytes) = @_;
    my $bad = next_id();
    my $before = $fleet->converted;
    $fleet->upload('b.so', $bad, prefix => 'good');
    $s3->put('shared', key('b.so', $bad), \$bytes);
    is($y->function($y->ask(['b.so', $bad])), 'good0', "$what in the bucket: the file itself answers");
    is($fleet->converted, $before + 1, '... it was converted');
    return $bad;
}

my $good = $s3->signed('shared', key('a.so', $id))->{body};
cmp_ok(length $good, '>', 100, 'an artifact');
bad('nothing known', 'nonsense');
bad('another module', $good);
my $cut = bad('a cut artifact', substr $good, 0, length($good) - 20);
bad('a changed artifact', substr($good, 0, 100) . ~substr($good, 100, 1) . substr $good, 101);
is($y->loader->stats->{unusable_shares}, 4, 'all of them are counted');
is($fleet->published(5), 5, 'they were replaced');
is($z->function($z->ask(['b.so', $cut])), 'good0', '... another node takes the new one');
is($fleet->converted, 5, '... without a conversion');

# --- a bucket that does not work ---

for my $case ([ 'an error', code => 'InternalError' ], [ 'refuses', code => 'AccessDenied' ], [ 'slows down', code => 'SlowDown' ]) {
    my ($what, @fault) = @$case;
    $id = next_id();
    $fleet->upload('c.so', $id, prefix => 'c');
    $s3->fault(method => 'GET', url => '/shared/', times => 1, @fault);
    is($x->function($x->ask(['c.so', $id])), 'c0', "the bucket answers with $what: requests are answered");
    $s3->no_faults;
}

# --- nothing to share ---

$id = next_id();
is($x->function($x->ask(['none.so', $id])), 'false', 'a file that is nowhere');
is_deeply([ grep {/none/} $fleet->paths('PUT', 'shared') ], [], '... is not published');

$_->allow(qr/symbolicate_share|symbol source/) for $fleet->nodes;
is($fleet->end, '', 'nothing unusual in the logs');

done_testing();
