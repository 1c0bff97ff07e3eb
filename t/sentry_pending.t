# A client of Sentry's API says how long it waits.  After that it gets an id
# instead of an answer; the work continues, and any worker returns the result,
# any number of times, until it expires.  A client that is answered in time
# never sees an id.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymJobs;
use Test::More;
use Time::HiRes qw(time);

my $t = SymJobs->new(workers => 3, http => 'symbolicate_results 8m;')->start;
my $uuid = $t->uuid;

# --- pending, and its result ---

my @modules = $t->modules(3);
my $r = $t->symbolicate('?timeout=0', @modules);
is($r->{status}, 200, 'timeout=0: answered');
is($r->{headers}{'content-type'}, 'application/json', '... in JSON');
is_deeply([sort keys %{$r->{json}}], [qw(request_id retry_after status)],
    '... with these keys');
is($r->{json}{status}, 'pending', '... pending');
is($r->{json}{retry_after}, 30, '... to be polled in 30 seconds');
like($r->{json}{request_id}, qr/^$uuid\z/, '... by a random UUID');
my $id = $r->{json}{request_id};

isnt($t->symbolicate('?timeout=0', @modules)->{json}{request_id}, $id,
    'the same request has another id');

for my $query ('?timeout=0', '?timeout=1') {
    my $start = time;
    $r = $t->result($id, $query);
    is($t->status($r), 'pending', "$query: pending still");
    is($r->{json}{request_id}, $id, '... the same id');
    cmp_ok(time - $start, '>=', 0.9, '... after a second')
        if $query =~ /1/;
}

# Polls all workers; they wait without a limit.
my @sockets = map {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('GET', "/requests/$id"));
    $socket;
} 1 .. 12;
$t->go;
my %bodies;
for my $socket (@sockets) {
    my $answer = $t->response($socket);
    is($t->status($answer), 'completed', 'a poll without a timeout waits');
    ok($t->is_known($answer), '... for all modules');
    $bodies{$answer->{body}}++;
}
is(scalar(keys %bodies), 1, 'all polls have the same answer');
is($t->status($t->result($id, '?timeout=0')), 'completed', 'and once more');
$r = $t->request('HEAD', "/requests/$id");
is($r->{status}, 200, 'HEAD');
(my $plain = $id) =~ tr/-//d;
is($t->status($t->result(uc $plain)), 'completed', 'an id without hyphens');

# One connection, three pipelined requests.
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/symbolicate?timeout=0',
        headers => ['Content-Type' => 'application/json'], keepalive => 1,
        body => $t->event(@modules)) x 2
    . $t->request_text('GET', "/requests/$id"));
is($t->status($t->response($socket)), $_, "one connection: $_")
    for qw(pending pending completed);

is($t->symbolicate('?timeout=0', @modules)->{json}{status}, 'pending',
    'timeout=0 is pending also where all is there');
$r = $t->symbolicate('?timeout=30', @modules);
is($t->status($r), 'completed', 'in time: the answer');
is($r->{body}, (keys %bodies)[0], '... the same as without a client');
is($t->status($t->symbolicate('', @modules)), 'completed', 'and without timeout');

# --- a client that waits for a while ---

$t->stall;
my @late = $t->modules(1);
my $start = time;
$r = $t->symbolicate('?timeout=1', @late);
is($t->status($r), 'pending', 'timeout=1: pending');
cmp_ok(time - $start, '>=', 0.9, '... after a second');
$t->go;
my $answer = $t->result($r->{json}{request_id});
is($t->status($answer), 'completed', '... and completed');
ok($t->is_known($answer), '... with its module');

$t->metric_is('requests_running', 0, 'no request is running');
$t->metric_is('jobs_running', 0, '... and no job');
cmp_ok($t->metric('requests_total', qr/status="pending"/), '>=', 5,
    'pending answers are counted');

is($t->end, '', 'nothing is wrong');

# --- it expires ---

$t = SymJobs->new(workers => 2, http => 'symbolicate_results 8m valid=1s;')
    ->start;
$id = $t->symbolicate('?timeout=0', $t->modules(1))->{json}{request_id};
is($t->status($t->result($id, '?timeout=0')), 'pending', 'a known id');
$t->go;
ok($t->wait_for(sub { ($t->result($id)->{status} // 0) == 404 }, 'expiry'),
    'a result expires');
$r = $t->result($id);
is($r->{body}, '', '... and the answer is empty');
is($r->{status}, 404, '... 404');
is($t->end, '', 'nothing is wrong');

done_testing();
