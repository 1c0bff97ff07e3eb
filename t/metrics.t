# Alerts and capacity planning depend on the metrics page, so its counts must be
# exact over all workers, and survive reloads and the death of workers.
# Prometheus's own parser reads the page.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymMetrics qw(parse_page);
use SymTest;
use Test::More;

use File::Path qw(remove_tree);
use JSON::PP qw(decode_json);

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');

my $t = SymTest->new(workers => 2)->load(SymTest::symbol_file(@module))
    ->allow(qr/exited on signal 9/)->allow(qr/\[crit\].*symbol store/);

my $locations = <<'CONF';
        location /symbolicate { symbolicate; client_max_body_size 20k; }
        location /__          { symbolicate_health; }
        location /metrics     { symbolicate_metrics; }
        location /odd         { symbolicate_store '%%DIR%%/a "b\\c';
                                symbolicate; }
CONF
$t->conf(locations => $locations,
    http => "log_format pids '\$pid';",
    server => 'access_log %%DIR%%/logs/pids pids;')->start;

# Whether HEAD announces the length of the page, requested between two pages of
# equal length, because its numbers grow with time.
sub head_of_equal_pages {
    my ($path) = @_;
    my ($before, $head, $after) = map { $t->request($_, $path)->{headers}{'content-length'} }
        qw(GET HEAD GET);
    return $before == $head && $head == $after;
}

sub scrape {
    my $r = $t->request('GET', '/metrics');
    is($r->{status}, 200, 'the page exists') or diag($t->error_log);
    my ($value) = parse_page($r->{body});
    return $value;
}

# A request is counted when nginx is done with it, which may be after the client
# has its answer.
sub scrape_after {
    my ($requests) = @_;
    my $value;
    $t->wait_for(sub {
        ($value) = parse_page($t->request('GET', '/metrics')->{body});
        my $n = 0;
        $n += $value->{$_} for grep {/^requests_total/} keys %$value;
        return $n >= $requests;
    }, "$requests requests are counted");
    return $value;
}

sub key {
    my ($version, $status, $code) = @_;
    return "requests_total{code=$code},{dialect=tecken},{status=$status},"
        . "{version=$version}";
}

# Values that must not change while no request arrives.
sub counts {
    my ($value) = @_;
    return { map { $_ => $value->{$_} }
        grep {/^(requests|frames|modules|request_s|lookup_s)/}
            keys %$value };
}

# --- before the first request ---

my $r = $t->request('GET', '/metrics');
is($r->{status}, 200, 'GET');
is($r->{headers}{'content-type'},
    'text/plain; version=0.0.4; charset=utf-8', 'the type');
my ($value, $type) = parse_page($r->{body});
is($value->{key(5, 'ok', '2xx')}, 0, 'zero good answers');
# an alert on rate() would miss the first request of a row that appears with it
for my $row (qw(none/4xx invalid/4xx too_large/4xx unsupported/4xx failed/5xx
    unavailable/5xx partial/2xx fetch_failed/5xx pending/2xx busy/5xx)) {
    is($value->{key($_, split m{/}, $row)}, 0, "zero: $row of version $_") for 4, 5;
}
is($value->{frames_total}, 0, 'zero frames');
is($value->{loader_connected}, 0, 'no loader');
is_deeply([grep { $_ !~ /^symbolicate_/ } keys %$type], [],
    'every family has our prefix');
my %want_type = (requests => 'counter', frames => 'counter',
    modules => 'counter', request_seconds => 'histogram',
    lookup_seconds => 'histogram', fetches => 'counter',
    fetch_seconds => 'histogram', fetch_bytes => 'counter',
    joins => 'counter', published => 'counter', notified => 'counter', warmed => 'counter', loader_connected => 'gauge',
    loader_reconnects => 'counter', store_up => 'gauge',
    store_live_bytes => 'gauge', store_file_bytes => 'gauge',
    store_quota_bytes => 'gauge', store_modules => 'gauge',
    store_evicted => 'counter', store_readers => 'gauge',
    build_info => 'gauge', turn_seconds => 'histogram', memory_bytes => 'gauge',
    memory_max_bytes => 'gauge', memory_refusals => 'counter',
    (map { ("loader_$_" => 'counter') } qw(elections re_elections joins
        invalidations aged supplement_fetches conversions
        swift_names_mangled unusable_shares)),
    (map { ("loader_$_" => 'gauge') } qw(up flights waiting fetches_running
        lease_bytes temp_room_bytes conversions_running clients
        supplement_bytes share_bytes)),
    loader_conversion_seconds => 'histogram');
is_deeply({ map { s/^symbolicate_//r => $type->{$_} } keys %$type },
    \%want_type, 'families and their types');

my $stat = decode_json($t->symloader('stat', '--json'));
my $store = $t->store;
is($value->{"store_up{store=$store}"}, 1, 'the store is up');
is($value->{"store_modules{state=ready},{store=$store}"}, 1, 'one module');
is($value->{"store_modules{state=$_},{store=$store}"}, 0, "none is $_")
    for qw(absent failed malformed);
is($value->{"store_quota_bytes{store=$store}"}, 10 * 2**30,
    'the quota of a new store');
is($value->{"store_file_bytes{store=$store}"}, -s "$store/data.mdb",
    'bytes of the file');
is($value->{"store_evicted_total{store=$store}"}, 0, 'nothing evicted');
cmp_ok($value->{"store_live_bytes{store=$store}"}, '>', 4096, 'live bytes');
my $odd = $t->dir . '/a "b\\c';
is($value->{"store_up{store=$odd}"}, 0,
    'a missing store, its path as configured');
ok(!exists $value->{"store_readers{store=$odd}"}, 'and nothing else of it');
my $health = $t->request('GET', '/__version__')->{json}{version};
is($value->{"build_info{version=$health}"}, 1, 'the version');

# --- exact counts, over two workers under load ---

my %body = (
    # three frames, two modules, one of them unknown
    v5 => $t->json({ jobs => [{ memoryMap => [[@module], ['a', 'A' x 33]],
        stacks => [[[0, 4096], [1, 5], [-1, 7]]] }] }),
    # one frame, one module
    v4 => $t->json({ memoryMap => [[@module]], stacks => [[[0, 4096]]] }),
);

my @clients = 1 .. 6;
my $rounds = SymTest::is_slow() ? 5 : 40;

sub client {
    my $pid = fork;
    die "fork: $!" if !defined $pid;
    return $pid if $pid;
    my $bad = 0;
    for (1 .. $rounds) {
        $bad++ if $t->post('/symbolicate/v5', $body{v5})->{status} != 200;
        $bad++ if $t->post('/symbolicate/v4', $body{v4})->{status} != 200;
        $bad++ if $t->post('/symbolicate/v5', '{')->{status} != 400;
        $bad++ if $t->request('GET', '/symbolicate/v5')->{status} != 405;
    }
    POSIX::_exit($bad ? 1 : 0);
}

sub workers_that_answered {
    my %seen = map { $_ => 1 } split ' ', SymTest::slurp($t->dir
        . '/logs/pids');
    return scalar keys %seen;
}

# until each worker has served some
my $times = 0;
while ($times == 0 || ($times < 20 && workers_that_answered() < 2)) {
    my @pids = map { client() } @clients;
    for my $pid (@pids) {
        waitpid $pid, 0;
        is($?, 0, 'a client had the answers that it expected');
    }
    $times++;
}
is(workers_that_answered(), 2, 'both workers answered');

my $n = $times * @clients * $rounds;
$value = scrape_after(4 * $n);
cmp_ok($value->{"store_readers{store=$store}"}, '>=', 2,
    'each worker is a reader');
is($value->{key(5, 'ok', '2xx')}, $n, 'v5: every good answer');
is($value->{key(4, 'ok', '2xx')}, $n, 'v4: every good answer');
is($value->{key(5, 'invalid', '4xx')}, $n, 'every bad request');
is($value->{key('none', 'none', '4xx')}, $n, 'every other method');
is($value->{frames_total}, 4 * $n, 'every frame');
is($value->{'modules_total{outcome=found}'}, 2 * $n, 'modules found');
is($value->{'modules_total{outcome=absent}'}, $n, 'modules absent');
is($value->{"modules_total{outcome=$_}"}, 0, "modules $_")
    for qw(malformed failed pending);
is($value->{lookup_seconds_count}, 2 * $n, 'lookups: only of answers');
is($value->{request_seconds_count}, 3 * $n, 'times: of POST requests');

for my $name (qw(request_seconds lookup_seconds)) {
    my %bucket = map { /^\Q$name\E_bucket\{le=(.*)\}$/
            ? ($1 => $value->{$_}) : () } keys %$value;
    my $inf = delete $bucket{'+Inf'};
    my @le = sort { $a <=> $b } keys %bucket;
    is("@le[0, -1]", '0.00001 100', "$name: from 10 us to 100 s");
    is($inf, $value->{"${name}_count"}, "$name: +Inf counts all");
    my $falls = grep { $bucket{$le[$_]} < $bucket{$le[$_ - 1]} } 1 .. $#le;
    is($falls, 0, "$name: buckets are cumulated");
    cmp_ok($value->{"${name}_sum"}, '>', 0, "$name: some time");
    is($bucket{100}, $inf, "$name: nothing took that long");
}
cmp_ok($value->{request_seconds_sum}, '>', $value->{lookup_seconds_sum},
    'a lookup is a part of its request');

# --- one of each remaining kind ---

my $before = 4 * $n;
$t->post('/symbolicate/v5', ' ' x 30_000);
$t->post('/symbolicate/v5', '{}', 'Content-Encoding' => 'br');
$t->post('/odd/v5', $body{v5});
$t->post('/symbolicate/v6', $body{v5});
$t->request('OPTIONS', '/symbolicate/v5');
my $socket = $t->connect;    # leaves in the middle of its body
$t->send_all($socket, "POST /symbolicate/v4 HTTP/1.1\r\nHost: x\r\n"
    . "Content-Length: 100\r\n\r\n{");
close $socket;
$before += 6;

my $v = scrape_after($before);
is($v->{key('none', 'too_large', '4xx')}, 1, 'too large, before it was read');
is($v->{key(5, 'unsupported', '4xx')}, 1, 'an encoding');
is($v->{key(5, 'unavailable', '5xx')}, 1, '503 without a store');
is($v->{key('none', 'none', '4xx')}, $n + 1, 'no such path');
is($v->{key('none', 'none', '2xx')}, 1, 'OPTIONS');
is((grep { /version=4/ && !/status=ok/ && $v->{$_} } keys %$v), 1,
    'a client that left is counted once');
is($v->{frames_total}, 4 * $n, 'no frame was answered');

# --- methods ---

my $page = $t->request('GET', '/metrics', headers => [Origin => 'http://x']);
ok(!exists $page->{headers}{'access-control-allow-origin'},
    'not for scripts of other sites');
is($t->request('HEAD', '/metrics')->{status}, 200, 'HEAD');
ok($t->wait_for(sub { head_of_equal_pages('/metrics') }), '... has the length of the page');
$r = $t->request('OPTIONS', '/metrics');
is("$r->{status} $r->{headers}{allow}", '200 GET, HEAD', 'OPTIONS');
for my $method (qw(POST PUT DELETE)) {
    $r = $t->request($method, '/metrics');
    is("$r->{status} $r->{headers}{allow}", '405 GET, HEAD, OPTIONS',
        $method);
}

# --- reload, with the same directives and with others ---

my $want = counts($v);

sub reload {
    my %old = map { $_ => 1 } $t->workers;
    $t->reload;
    $t->wait_for(sub { !grep { $old{$_} } $t->workers },
        'the old workers are gone');
    return;
}

reload();
is_deeply(counts(scrape()), $want, 'a reload keeps the counts');

$t->{workers} = 1;
$t->conf(locations => $locations =~ s/symbolicate;/symbolicate_slice 1; symbolicate;/r,
    server => '', http => 'symbolicate_answer_cache off;');
$t->write_conf;
reload();
is_deeply(counts(scrape()), $want, 'also when directives change');

$t->conf(locations => 'location /__ { symbolicate_health; }');
$t->write_conf;
reload();
$t->{workers} = 2;
$t->conf(locations => $locations);
$t->write_conf;
reload();
is_deeply(counts(scrape()), $want, 'also when they are gone for a while');

# --- workers die ---

for my $worker ($t->workers) {
    kill 'KILL', $worker or die "kill: $!";
}
$t->wait_for(sub { $t->error_log =~ /(exited on signal 9.*){2}/s },
    'both workers have died');
$t->post('/symbolicate/v5', $body{v5});
$v = scrape_after(++$before);
is($v->{key(5, 'ok', '2xx')}, $want->{key(5, 'ok', '2xx')} + 1,
    'counted on by the next workers');
is($v->{frames_total}, $want->{frames_total} + 3, 'frames as well');

# --- a store that is damaged, or missing ---

# valgrind handles the faults itself
if (!SymTest::is_valgrind()) {
    truncate "$store/data.mdb", 8192 or die "truncate: $!";
    $v = scrape();
    is($v->{"store_up{store=$store}"}, 0, 'a damaged store is down');
    ok(!exists $v->{"store_live_bytes{store=$store}"}, 'it has no figures');
    is($v->{frames_total}, $want->{frames_total} + 3,
        'the rest of the page is complete');
}

remove_tree($store);
$t->wait_for(sub {
    my ($now) = parse_page($t->request('GET', '/metrics')->{body});
    return $now->{"store_up{store=$store}"} == 0;
}, 'a store that is gone is down');

$t->load(SymTest::symbol_file(@module));
$t->wait_for(sub {
    my ($now) = parse_page($t->request('GET', '/metrics')->{body});
    return $now->{"store_up{store=$store}"} == 1
        && $now->{"store_modules{state=ready},{store=$store}"} == 1;
}, 'a new one is up');
pass('a new store is up');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
