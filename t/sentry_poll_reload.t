# nginx is reloaded while jobs run: old workers stay until their jobs have
# ended, new ones know these jobs and their results, and nothing is left over.
# A worker that has to exit (worker_shutdown_timeout) reports that its jobs
# failed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymJobs;
use Test::More;

my $t = SymJobs->new(workers => 2)->start;
my @first = $t->workers;

# --- two reloads, jobs of each generation ---

my (@ids, @generations);
for my $n (0 .. 2) {
    my %old = map { $_ => 1 } map { @$_ } @generations;
    push @generations, [grep { !$old{$_} } $t->workers];
    for (1 .. 4) {
        my $r = $t->symbolicate('?timeout=0', $t->modules(2));
        is($t->status($r), 'pending', "generation $n: a job");
        push @ids, $r->{json}{request_id};
    }
    $t->reload if $n < 2;
}
$t->metric_is('jobs_running', 12, 'all jobs run');
ok((grep { my $pid = $_; grep { $pid == $_ } @first } $t->workers),
    'old workers that have jobs stay');
is($t->status($t->result($_, '?timeout=0')), 'pending',
    'new workers know a job') for @ids;

# a poll in progress when its own worker is told to quit
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('GET', "/requests/$ids[0]"));
$t->request('GET', '/__lbheartbeat__');
my %before = map { $_ => 1 } $t->workers;
$t->reload;

$t->go;
my $r = $t->response($socket);
is($t->status($r), 'completed', 'a poll of an old worker is answered');
for my $id (@ids) {
    $r = $t->result($id);
    is($t->status($r), 'completed', 'a job of an old worker ends');
    ok($t->is_known($r), '... with its modules');
}

ok($t->wait_for(sub { !grep { $before{$_} } $t->workers }, 'old workers end'),
    'old workers end when their jobs have ended');
is(scalar($t->workers), 2, 'two workers are there');
is($t->status($t->result($_)), 'completed', 'results outlive their workers')
    for @ids;
$t->metric_is('requests_running', 0, 'no request is counted as running');
is($t->end, '', 'nothing is wrong');

# --- a worker that has to exit ---

$t = SymJobs->new(workers => 1);
$t->conf(main => 'worker_shutdown_timeout 4s;')->start;
$r = $t->symbolicate('?timeout=0', $t->modules(1));
my $id = $r->{json}{request_id};
my ($old) = $t->workers;
$t->reload;
$r = $t->result($id);
is($t->status($r), 'internal_error', 'worker_shutdown_timeout ends a job');
is($r->{status}, 200, '... 200');
ok($t->wait_for(sub { !grep { $_ == $old } $t->workers }, 'it ends'),
    '... and its worker');
$t->metric_is('requests_running', 0, '... which no longer counts');
$t->go;
is($t->end, '', 'nothing is wrong');

done_testing();
