# Each resource that clients use has a limit: running requests in all workers
# together, jobs of an address, memory for results, the time of a request.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymJobs;
use Test::More;
use Time::HiRes qw(time);

my $BUSY = '{"detail": "maximum number of concurrent requests reached"}';

sub is_busy {
    my ($r, $what) = @_;
    is($r->{status}, 503, "$what: 503");
    is($r->{body}, $BUSY, '... says why');
    is($r->{headers}{'content-type'}, 'application/json', '... in JSON');
    return;
}

# --- running requests, and those of one address ---

my $t = SymJobs->new(workers => 3,
    http => 'symbolicate_max_requests 4 per_address=2;')->start;

sub from {
    my ($address, $query, @names) = @_;
    my $socket = $t->connect(from => $address);
    $t->send_all($socket, $t->request_text('POST', "/symbolicate$query",
        headers => ['Content-Type' => 'application/json'],
        body => $t->event(@names)));
    return $t->response($socket);
}

my @ids;
for (1 .. 2) {
    my $r = from('127.0.0.1', '?timeout=0', $t->modules(1));
    is($t->status($r), 'pending', 'a job');
    push @ids, $r->{json}{request_id};
}
is_busy(from('127.0.0.1', '?timeout=0', $t->modules(1)),
    'the third from an address');
my $other = from('127.0.0.2', '?timeout=0', $t->modules(1));
is($t->status($other), 'pending', 'one from another address');
push @ids, $other->{json}{request_id};

my $waiting = $t->begin_event('', $t->modules(1));
$t->wait_for(sub { $t->metric('requests_running') == 4 }, 'four are running');
is_busy(from("127.0.0.$_", '', $t->modules(1)), 'the fifth is running')
    for 3 .. 6;
is($t->symbolicate('', ())->{status}, 503, '... also a quick one');
is($t->post('/symbolicate', '{', 'Content-Type' => 'application/json')
    ->{status}, 400, '... but not one that is refused');
is($t->status($t->result($ids[0], '?timeout=0')), 'pending', 'polls are not');
close $waiting;
$t->metric_is('requests_running', 3,
    'a client that leaves before it has an id frees its slot');
$t->go;
is($t->status($t->result($_)), 'completed', 'jobs end') for @ids;
$t->metric_is('requests_running', 0, '... and free their slots');
is($t->status(from('127.0.0.1', '?timeout=0', $t->modules(1))), 'pending',
    'there is room again');
cmp_ok($t->metric('requests_total', qr/status="busy"/), '>=', 6,
    'refused ones are counted');
is($t->end, '', 'nothing is wrong');

# --- shares of the limit, without per_address ---

$t = SymJobs->new(workers => 2, http => 'symbolicate_max_requests 8;')->start;

# How many of 10 requests from an address become jobs.
sub pending {
    my ($address, $query) = @_;
    return scalar(grep { ($t->status(from($address, $query, $t->modules(1))) // '') eq 'pending' }
        1 .. 10);
}

is(pending('127.0.0.1', '?timeout=0'), 6,
    'an address gets three quarters of all requests as jobs');
is(pending('127.0.0.2', '?timeout=0'), 2, '... and leaves some for another');
$t->go;
$t->metric_is('requests_running', 0, 'all end');
$t->stall;
is(pending('127.0.0.1', '?timeout=0&scope=a'), 5,
    'a scope of an address gets three quarters of its share');
is(pending('127.0.0.1', '?timeout=0&scope=b'), 1, '... and leaves some for another');
$t->go;
is($t->end, '', 'nothing is wrong');

# --- time ---

$t = SymJobs->new(how => 'symbolicate_request_timeout 1s;')->start;
for my $query ('', '?timeout=30') {
    my $start = time;
    my $r = $t->symbolicate($query, $t->modules(1));
    is($r->{body}, '{"status": "timeout"}', "no answer in time ($query)");
    cmp_ok(time - $start, '>=', 0.9, '... within its time');
}
my $r = $t->symbolicate('?timeout=0', $t->modules(1));
is($t->status($r), 'pending', 'a job has the same time');
is($t->result($r->{json}{request_id})->{body}, '{"status": "timeout"}',
    '... time');
$t->metric_is('requests_running', 0, 'none is running now');
$t->go;
is($t->end, '', 'nothing is wrong');

# --- memory ---

$t = SymJobs->new(workers => 2,
    http => 'symbolicate_results 1m valid=1m;')->start;
$t->go;
my ($name) = $t->modules(1);

# An event with the given number of frames.
sub large {
    my ($frames) = @_;
    my $event = JSON::PP::decode_json($t->event($name));
    my ($frame) = @{$event->{stacktraces}[0]{frames}};
    $event->{stacktraces}[0]{frames} = [($frame) x $frames];
    return $t->post_json('/symbolicate?timeout=0', $event,
        'Content-Type' => 'application/json');
}

$r = $t->result(large(600)->{json}{request_id});
is($t->status($r), 'completed', 'a result of ' . length $r->{body});
$r = $t->result(large(5000)->{json}{request_id});
is($r->{body}, '{"status": "internal_error"}', 'a result that is too long');
like($t->error_log, qr/its result does not fit: it is longer than a quarter of symbolicate_results/,
    '... the log says why');

my %status;
my @got;
for (1 .. 60) {
    $r = large(600);
    $status{$t->status($r)}++;
    push @got, $r->{json}{request_id} if $t->status($r) eq 'pending';
}
cmp_ok($status{503} // 0, '>', 0, 'results use all room: 503');
cmp_ok($status{pending} // 0, '>', 0, '... of the later ones');
my %ends;
for my $id (@got) {
    $r = $t->result($id);
    $ends{$t->status($r)}++;
}
is(join(' ', grep { !/^(?:completed|internal_error|404)$/ } keys %ends), '',
    'started ones finish: ' . join ' ', %ends);
cmp_ok($t->metric('results_bytes'), '<=', $t->metric('results_max_bytes'),
    'the limit is kept');
is($t->end, '', 'nothing is wrong');

done_testing();
