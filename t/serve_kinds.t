#!/usr/bin/perl

# Each kind of artifact of a module is requested, fetched, leased, stored and
# recorded as absent by itself: the sources of a module that has symbols are
# fetched, and their absence hides no symbols.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymFixtures qw(fixtures need_fixtures);
use SymLoader qw(json_lines sym_text);
use SymServe;

my $SOURCES = 2;
my $FOLDER = need_fixtures('sourcebundles');
my $BUNDLE = "$FOLDER/883fcdc55336d0a809b0150f09500b.src.zip";
my $ID = '7F883FCDC55336D0A809B0150F09500B0';
my $KEY = "example/$ID";

my $t = SymServe->new->serve('--jobs', 1);
my $symbols = $t->file('symbols', sym_text('example', $ID, lines => 1));
my @c = map { $t->client } 0 .. 1;

# --- both at the same time ---

$c[0]->send(ENSURE => ticket => 1, scope => "s", key => $KEY);
is($c[0]->recv->{type}, 'FETCH', 'its symbols: FETCH');
$c[0]->send(ENSURE => ticket => 2, scope => "s", key => $KEY, kind => $SOURCES);
is_deeply([ @{ $c[0]->recv }{qw(type ticket length)} ], [ 'FETCH', 2, 1 << 20 ],
    'its sources: another FETCH, with a lease of their own');
$c[1]->send(ENSURE => ticket => 1, scope => "s", key => $KEY, kind => $SOURCES);
$c[1]->sync;
is($t->stats->{joins}, 1,
    'another client joins those that wait for the sources');

$c[0]->send(NONE => ticket => 1, state => 2, ttl => [60, 60, 60], text => 'no symbols');
is_deeply([ @{ $c[0]->recv }{qw(type ticket state)} ], [ 'NEGATIVE', 1, 2 ],
    'there are no symbols');
$c[0]->send(INGEST => ticket => 2, path => $BUNDLE, source => 'http://s/example.src.zip');
is_deeply([ @{ $c[0]->recv }{qw(type ticket)} ], [ 'READY', 2 ], 'there are sources');
is_deeply([ @{ $c[1]->recv }{qw(type ticket)} ], [ 'READY', 1 ],
    '... for both clients');

my ($symcache, %state);
for (json_lines($t->run('ls', '--json')->{out})) {
    $state{ $_->{kind} } = $_ if $_->{kind};
    $symcache = $_->{state} if ($_->{path} // '') =~ /\.sym$/;
}
is_deeply([ @{ $state{sources} }{qw(source name id state)} ], [ 's', 'example', $ID, 'ready' ],
    'the store has them, with their source');
is($symcache, 'absent', '... and that there are no symbols');

for my $case ([0, 'NEGATIVE'], [1, 'NEGATIVE'], [$SOURCES, 'READY']) {
    my ($kind, $answer) = @$case;
    $c[1]->send(ENSURE => ticket => 3, scope => "s", key => $KEY, $kind ? (kind => $kind) : ());
    is($c[1]->recv->{type}, $answer, "kind $kind once more: $answer at once");
}

# --- the other way round ---

$c[0]->send(ENSURE => ticket => 4, scope => "t", key => $KEY, kind => $SOURCES);
is($c[0]->recv->{type}, 'FETCH', 'from another source: FETCH');
$c[0]->send(NONE => ticket => 4, state => 2, ttl => [60, 60, 60], text => 'none');
is($c[0]->recv->{type}, 'NEGATIVE', '... which has no sources');
$c[0]->send(ENSURE => ticket => 5, scope => "t", key => $KEY);
is($c[0]->recv->{type}, 'FETCH', 'that hides no symbols');
$c[0]->send(INGEST => ticket => 5, path => $symbols, source => '');
is($c[0]->recv->{type}, 'READY', '... which come');
$c[0]->send(ENSURE => ticket => 6, scope => "t", key => $KEY);
is($c[0]->recv->{type}, "READY", '... and stay');
$c[0]->send(ENSURE => ticket => 6, scope => "t", key => $KEY, kind => $SOURCES);
is($c[0]->recv->{type}, 'NEGATIVE', 'the absence of sources is still recorded');

# --- a file of a kind that was not requested ---

$c[0]->send(ENSURE => ticket => 7, scope => "u", key => $KEY);
is($c[0]->recv->{type}, 'FETCH', 'symbols are requested');
$c[1]->send(ENSURE => ticket => 7, scope => "u", key => $KEY, kind => $SOURCES);
is($c[1]->recv->{type}, 'FETCH', '... and sources, elsewhere');
$c[0]->send(INGEST => ticket => 7, path => $BUNDLE, source => '', ttl => [60, 60, 60]);
my $m = $c[0]->recv;
is_deeply([ @{$m}{qw(type state)} ], [ 'NEGATIVE', 2 ], 'a bundle arrived instead: absent');
is($c[1]->recv->{type}, 'READY',
    'its contents are stored, and serve clients that wait for them');

# --- invalidated together ---

$c[0]->send(ENSURE => ticket => 8, scope => "v", key => $KEY, kind => $SOURCES);
is($c[0]->recv->{type}, 'FETCH', 'sources are being fetched');
$c[1]->send(INVALIDATE => ticket => 9, scope => "*", key => $KEY);
$m = $c[1]->recv;
is($m->{type}, 'DONE', 'the module is invalidated');
is($m->{kind}, 1 << 1 | 1 << $SOURCES, '... with all kinds that were stored');
$c[0]->send(INGEST => ticket => 8, path => $BUNDLE, source => '');
is($c[0]->recv->{type}, 'FETCH', 'the download in flight is void: once more');
$c[0]->send(INGEST => ticket => 8, path => $BUNDLE, source => '');
is($c[0]->recv->{type}, 'READY', '... and ready');

# --- lines of .NET ---

my $PPDB = 3;
my $NET = 'Sentry.Samples.Console.Basic.pdb/526F365F4D8D4FA8B370EAE9A9136DE4A39453E5';

$c[0]->send(ENSURE => ticket => 12, scope => "x", key => $NET, kind => $PPDB);
is($c[0]->recv->{type}, 'FETCH', 'lines of .NET are fetched');
$c[0]->send(INGEST => ticket => 12, source => '',
    path => fixtures('ppdb/Sentry.Samples.Console.Basic.pdb'));
is_deeply([ @{ $c[0]->recv }{qw(type ticket)} ], [ 'READY', 12 ],
    '... from a portable PDB');
$c[0]->send(ENSURE => ticket => 13, scope => "x", key => $NET, kind => $SOURCES);
is($c[0]->recv->{type}, 'READY', '... and the sources in it are there, too');

# --- a deposit ---

$c[0]->send(ENSURE => ticket => 10, scope => "w", key => "sentry_example/$ID");
$c[0]->recv;
$c[0]->send(ENSURE => ticket => 11, scope => "w", key => "sentry_example/$ID", kind => $SOURCES);
$c[0]->recv;
is($t->run('load', $BUNDLE)->{code}, 0, 'a bundle is loaded by hand');
is_deeply([ @{ $c[0]->recv }{qw(type ticket)} ], [ 'READY', 11 ],
    'it serves clients that wait for sources, and no others');
$c[0]->send(NONE => ticket => 10, state => 2, ttl => [60, 60, 60], text => 'none');
is_deeply([ @{ $c[0]->recv }{qw(type ticket)} ], [ 'NEGATIVE', 10 ],
    '... the symbols are unchanged');

is($t->stop->{code}, 0, 'the daemon ends');
is($t->verify, 'sound', 'the store is sound');
done_testing();
