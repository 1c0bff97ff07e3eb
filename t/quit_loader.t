# A worker is told to quit while a request waits, and its loader dies and comes
# back meanwhile: it quits without an alert about an open socket, even if the
# request is gone by then and only abandoned downloads are left.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $t = SymFetch->new->start;
my @module = ('m.so', SymFetch::id(1));
$t->upload(@module)->fault->script('src', 'gate/g/ok');
my $socket = $t->begin([@module]);
$t->fault->wait('/as/src/' . SymFetch::path(@module), count => 1);

my %old = map { $_ => 1 } $t->workers;
$t->reload;
$t->loader_stop('KILL');
$t->loader_start;
$t->fault->open_gate('g');
my $r = $t->response($socket);
is($t->found($r, @module), 1, 'the request is answered by the new loader');
ok($t->wait_for(sub { !grep { $old{$_} } $t->workers }, 'it quits'),
    'the old worker quits');
is($t->found($t->ask([@module]), @module), 1, 'the new one serves');
is($t->end, '', 'nothing is wrong');

$t = SymFetch->new->start;
my @soon = ('X-Symbolicate-Budget' => '2s');
my @forsaken = ('f.so', SymFetch::id(2));
$t->upload(@$_) for \@module, \@forsaken;
$t->fault->script('src', 'gate/h/ok');
is($t->found($t->ask_with(\@soon, [@forsaken]), @forsaken), undef,
    'a fetch without a waiting request');
$socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
    headers => [@soon], body => $t->question([@module])));
$t->fault->wait('/as/src/' . SymFetch::path(@module), count => 1);
%old = map { $_ => 1 } $t->workers;
$t->reload;
$t->loader_stop('KILL');
is($t->found($t->response($socket), @module), undef,
    'the last request has gone');
$t->loader_start;
$t->fault->open_gate('h');
ok($t->wait_for(sub { !grep { $old{$_} } $t->workers }, 'it quits'),
    'the old worker quits');
is($t->gets(@forsaken), 1, '... and does not fetch without a request');
is($t->found($t->ask([@module]), @module), 1, 'the new one serves');
is($t->end, '', 'nothing is wrong');

done_testing();
