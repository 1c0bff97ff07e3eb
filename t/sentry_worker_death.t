# A killed worker loses its jobs, and each of them reports that: no id that a
# client got is pending for ever, or unknown, and dead workers do not count.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymJobs;
use Test::More;

my $t = SymJobs->new(workers => 2,
    http => 'symbolicate_max_requests 40; symbolicate_results 4m;')->start;
$t->allow(qr/worker process \d+ exited on signal 9/);
# a worker may die while it writes to the table of jobs, which is then repaired
$t->allow(qr/shared memory zone "symbolicate_results" was locked by \d+/);

# --- all workers at once, with jobs, waiting clients and polls ---

my @ids = map {
    $t->symbolicate('?timeout=0', $t->modules(1))->{json}{request_id}
} 1 .. 8;
my @sockets = map { $t->begin_event('', $t->modules(1)) } 1 .. 4;
$t->metric_is('requests_running', 12, 'jobs and requests are running');

my %killed = map { $_ => 1 } $t->workers;
kill 'KILL', keys %killed;
ok($t->wait_for(sub { 2 == grep { !$killed{$_} } $t->workers }, 'new workers'),
    'workers are killed, others come');
for my $id (@ids) {
    my $r = $t->result($id, '?timeout=20');
    is($r->{status}, 200, 'the id is known');
    is($r->{body}, '{"status": "internal_error"}', '... it failed');
}
is_deeply([map { $t->response($_) } @sockets], [map { {} } @sockets],
    'connections are gone');
$t->metric_is('requests_running', 0, 'the dead are not counted');
$t->metric_is('jobs_lost_total', 8, '... but their jobs are');

# --- an old worker, which is not replaced ---

my $r = $t->symbolicate('?timeout=0', $t->modules(1));
my %old = map { $_ => 1 } $t->workers;
$t->reload;
# not while the new ones start, when there may be two old ones and only one of
# them stays
$t->wait_for(sub {
    my @workers = $t->workers;
    return @workers == 3 && 1 == grep { $old{$_} } @workers;
}, 'one old worker stays');
my ($left) = grep { $old{$_} } $t->workers;
ok($left, 'a worker stays for its job');
my $socket = $t->connect;
$t->send_all($socket, $t->request_text('GET',
    "/requests/$r->{json}{request_id}"));
kill 'KILL', $left;
is($t->status($t->response($socket)), 'internal_error',
    '... is killed: a poll in progress is answered');

# --- one after the other, under load ---

$t->go;
my (%count, @all);
for my $round (1 .. 12) {
    for (1 .. 6) {
        my $answer = eval { $t->symbolicate('?timeout=0', $t->modules(3)) };
        push @all, $answer->{json}{request_id}
            if ref($answer->{json}) eq 'HASH' && $answer->{json}{request_id};
    }
    my @workers = $t->workers;
    kill 'KILL', $workers[$round % @workers] if @workers;
}
# those of the last round may all have been in the killed worker
$t->wait_for(sub {
    my $answer = eval { $t->symbolicate('?timeout=0', $t->modules(3)) } or return;
    my $id = ref($answer->{json}) eq 'HASH' && $answer->{json}{request_id};
    push @all, $id if $id;
    return $id && $t->workers == 2;
}, 'a job after the last of them');
cmp_ok(scalar(@all), '>=', 20, scalar(@all) . ' ids');
for my $id (@all) {
    my $state = 'none';
    $t->wait_for(sub {
        my $answer = eval { $t->result($id, '?timeout=20') } or return;
        return 1 if !$answer->{status};
        $state = $t->status($answer);
        return $state ne 'pending';
    }, 'an answer');
    $count{$state}++;
}
note(join ', ', map {"$_: $count{$_}"} sort keys %count);
is(join(' ', grep { !/^(?:completed|internal_error)$/ } keys %count), '',
    'each ends in one way or the other');
cmp_ok($count{internal_error} // 0, '>', 0, '... some with their workers');
cmp_ok($count{completed} // 0, '>', 0, '... some do not');
$t->metric_is('requests_running', 0, 'no request is counted as running');
is($t->status($t->symbolicate('', $t->modules(1))), 'completed',
    'and it serves');
# downloads during which a worker was killed
unlink $t->temp_files;
is($t->end, '', 'nothing is wrong');

done_testing();
