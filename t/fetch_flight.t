# However many requests in however many workers need a module, its source gets
# one request for it.  Different modules are fetched in parallel, but no more
# than symbolicate_fetch_concurrency per worker.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $crowd = SymTest::is_slow() ? 200 : 1000;
my $t = SymFetch->new(workers => 2, connections => 4096)
    ->conf(http => 'symbolicate_fetch_concurrency 7;')->start;
my @module = ('popular.so', SymFetch::id(1));
my $path = '/as/src/' . SymFetch::path(@module);

$t->upload(@module, prefix => 'p_')->fault->script('src', 'gate/g/ok');
my @sockets = map { $t->begin([@module]) } 1 .. $crowd;
$t->fault->wait($path, count => 1);
$t->fault->open_gate('g');
my $good = 0;
for my $socket (@sockets) {
    my $r = $t->response($socket);
    $good++ if ($r->{status} // 0) == 200 && $t->function($r, 0) eq 'p_0';
}
is($good, $crowd, "$crowd requests at once: all answered");
is($t->fault->count($path), 1, '... by one GET');
@sockets = ();

# --- many modules of one request ---

my @many = map { ["many$_.so", SymFetch::id(100 + $_)] } 1 .. 50;
$t->upload(@$_) for @many;
$t->fault->forget->close_gate('g');
my $socket = $t->begin(@many);
$t->fault->wait(undef, now => 6);
$t->fault->open_gate('g');
my $r = $t->response($socket);
is($r->{status}, 200, '50 modules in one request: answered');
is(scalar(grep { $t->found($r, @$_) } @many), 50, 'all are found');
my $stats = $t->fault->stats->{total};
is($stats->{count}, 50, 'a GET each');
is($stats->{max}, 6, 'six of seven at once: others find a slot, too');

# --- clients that leave ---

my @left = ('left.so', SymFetch::id(2));
my $left = '/as/src/' . SymFetch::path(@left);
$t->upload(@left)->fault->close_gate('g');
@sockets = map { $t->begin([@left]) } 1 .. 20;
$t->fault->wait($left, count => 1);
my $stays = pop @sockets;
close $_ for @sockets;
$t->fault->open_gate('g');
is($t->found($t->response($stays), @left), 1,
    'others went away: the remaining client is answered');
is($t->fault->count($left), 1, '... by one GET');

my @gone = ('gone.so', SymFetch::id(3));
my $gone = '/as/src/' . SymFetch::path(@gone);
$t->upload(@gone)->fault->close_gate('g');
$socket = $t->begin([@gone]);
$t->fault->wait($gone, count => 1);
close $socket;
$t->fault->open_gate('g');
$t->wait_for(sub { $t->loader_log =~ /gone\.so.*: ready/ },
    'a download without waiting clients is stored');
is($t->found($t->ask([@gone]), @gone), 1, '... for the next request');
is($t->fault->count($gone), 1, '... by one GET');

my $link = $t->loader->stats;
is($link->{$_}, 0, "the daemon: no $_") for qw(flights waiting lease_bytes);

is($t->end, '', 'nothing is wrong');

done_testing();
