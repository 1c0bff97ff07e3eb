# Operators use the alerts and the dashboard of packaging/ unchanged.  An
# expression with a wrong name is not an error there: the alert never fires, the
# panel stays empty.  So Prometheus itself scrapes nginx here, evaluates every
# expression, and must find something.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymServer;
use Test::More;

use HTTP::Tiny;
use JSON::PP qw(decode_json);

my $ROOT = SymTest::root() . '/packaging';
my $JOB = 'symbolicate';

my $t = SymFetch->new->conf(locations => <<'CONF');
        symbolicate_loader unix:%%LOADER%%;
        symbolicate_missing on;
        location /symbolicate {
            symbolicate;
            symbolicate_source good uri=/good/;
        }
        location /admin {
            symbolicate;
            symbolicate_admin on;
            symbolicate_source good uri=/good/;
        }
        location /bad {
            symbolicate;
            symbolicate_source bad uri=/down/;
        }
        location /metrics { symbolicate_metrics; }
        location /__      { symbolicate_health; }
        location /good/   { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /down/   { internal; return 500; }
CONF
$t->start;

my $n = 0;

# Modules that are found, absent and failed.
sub ask_for_all {
    my @found = ('m' . ++$n . '.so', SymFetch::id($n));
    my @absent = ('a' . $n . '.so', SymFetch::id(0x10000 + $n));
    my @failed = ('f' . $n . '.so', SymFetch::id(0x20000 + $n));
    $t->upload(@found);
    my $r = $t->ask(\@found, \@absent);
    $t->found($r, @found) == 1 && $t->found($r, @absent) == 0
        or die "m$n.so: $r->{status} $r->{body}";
    $r = $t->post('/bad/v5', $t->question(\@failed));
    $r->{status} == 503 or die "f$n.so: $r->{status}";
    return;
}

# --- checks of promtool ---

sub promtool_takes {
    my ($what, @command) = @_;
    my $log = $t->dir . '/logs/promtool';
    is(SymTest::run_quietly($log, 'promtool', @command), 0, $what)
        or diag(SymTest::slurp($log));
    return;
}

ask_for_all();
my $page = $t->request('GET', '/metrics');
is($page->{status}, 200, 'the page');
my $file = $t->dir . '/metrics';
open my $out, '>', $file or die "$file: $!";
print $out $page->{body};
close $out;
{
    local *STDIN;
    open STDIN, '<', $file or die "$file: $!";
    promtool_takes('check metrics: names, units and help', 'check', 'metrics');
}
promtool_takes('check config, with the rules', 'check', 'config',
    "$ROOT/prometheus/prometheus.yml");
promtool_takes('test rules: each alert fires when it should', 'test', 'rules',
    "$ROOT/prometheus/alerts_test.yml");

# --- results in Prometheus ---

my $dir = $t->dir . '/prometheus';
mkdir $dir or die "$dir: $!";
for my $name ('prometheus.yml', 'alerts.yml') {
    my $text = SymTest::slurp("$ROOT/prometheus/$name");
    my $address = $t->address;
    if ($name eq 'prometheus.yml') {
        is($text =~ s/127\.0\.0\.1:8000/$address/g, 2,
            'the example names its targets');
        is($text =~ s/: 15s$/: 200ms/mg, 2, '... and its intervals');
    }
    open $out, '>', "$dir/$name" or die "$dir/$name: $!";
    print $out $text;
    close $out;
}

my ($server, $url);
my $http = HTTP::Tiny->new(timeout => $SymTest::PATIENCE, proxy => undef,
    http_proxy => undef);

sub is_ready { return $http->get("$url/-/ready")->{status} == 200 }

my $port = SymServer::free_port();
$url = "http://127.0.0.1:$port";
$server = SymServer->start_deaf('prometheus', SymTools::path('prometheus'),
    '--config.file', "$dir/prometheus.yml", '--storage.tsdb.path',
    "$dir/data", '--web.listen-address', "127.0.0.1:$port",
    '--log.level=warn');
$t->wait_for(\&is_ready, 'Prometheus starts') or BAIL_OUT($server->said);

# The result of an expression.  If Prometheus refuses it: a failed test, and
# undef.
sub value_of {
    my ($expression) = @_;
    my $r = $http->post_form("$url/api/v1/query", { query => $expression });
    return decode_json($r->{content})->{data}{result} if $r->{status} == 200;
    fail("$expression: $r->{content}");
    return;
}

# Plays Grafana.
sub filled_in {
    my ($expression) = @_;
    my %value = (__rate_interval => '1m', job => $JOB, instance => '.*');
    $expression =~ s/\$(\w+)/$value{$1} \/\/ die "no variable \$$1"/ge;
    return $expression;
}

my $board = decode_json(SymTest::slurp("$ROOT/grafana/symbolicate.json"));
my %left;
for my $panel (grep { $_->{type} ne 'row' } @{$board->{panels}}) {
    $left{filled_in($_->{expr})} = "panel $panel->{title}"
        for @{$panel->{targets}};
}
cmp_ok(scalar keys %left, '>', 30, 'the dashboard has queries');

# a list of labels' values, for a menu
my $menus = 0;
for my $variable (@{$board->{templating}{list}}) {
    my $query = $variable->{query};
    next if $variable->{type} eq 'datasource';
    $query->{query} =~ /^label_values\((.*), (\w+)\)$/
        or fail("menu $variable->{name}");
    $left{'group by (' . $2 . ') (' . filled_in($1) . ')'} =
        "menu $variable->{name}";
    $menus++;
}
is($menus, 2, '... and menus');

# the expressions that alerts compare
sub rules {
    my $r = $http->get("$url/api/v1/rules");
    return map { @{$_->{rules}} } @{decode_json($r->{content})->{data}{groups}};
}

for my $rule (rules()) {
    while ($rule->{query} =~ /\b((?:symbolicate_\w+|up)\b(?:\{[^}]*\})?)/g) {
        my $selector = $1;
        $left{$selector} = "$rule->{name}: $selector";
    }
}

my $all = keys %left;
$t->wait_for(sub {
    ask_for_all();
    for my $expression (keys %left) {
        my $result = value_of($expression) // [{}];
        delete $left{$expression} if @$result
            && !grep { ($_->{value}[1] // '') eq 'NaN' } @$result;
    }
    select undef, undef, undef, 0.2;
    return !%left;
}, "values of all $all expressions");
is($left{$_}, undef, $_) for sort keys %left;

# The very first failure counts: before it there was a zero.
my $v4 = 'symbolicate_requests_total{version="4",status="fetch_failed",code="5xx"}';
$t->wait_for(sub { @{value_of("$v4 == 0") // []} }, 'no request of v4 has failed');
my $r = $t->post('/bad/v4', $t->json({ version => 4, stacks => [[[0, 0x1004]]],
    memoryMap => [['first.so', SymFetch::id(0x30000)]] }));
is($r->{status}, 503, 'the first one');
$t->wait_for(sub { @{value_of("increase(${v4}[1m]) > 0") // []} }, '... is seen');

my %health;
$t->wait_for(sub {
    %health = map { $_->{name} => $_->{health} } rules();
    return !grep { $_ ne 'ok' } values %health;
}, 'all alerts have been evaluated');
my @alerts = SymTest::slurp("$dir/alerts.yml") =~ /^ +- alert: (\w+)$/mg;
is_deeply(\%health, { map { $_ => 'ok' } @alerts }, 'alerts, evaluated');

$server->stop;
is($t->end, '', 'the logs are clean');

done_testing();
