# A host of requests' sources that keeps failing gets no requests for a while,
# as in Symbolicator: with its messages, and smaller numbers.  Statuses that are
# answers do not count, and one project's failures do not block a host for
# others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new(allow => 'allow=127.0.0.1 block=2/1m/1h', sources => <<'CONF')->start;
        location /metrics { symbolicate_metrics; }
        location /admin { symbolicate; symbolicate_admin on; }
        location /short {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_negative_ttl absent=1s malformed=1s failed=1s;
            symbolicate_request_sources uri=/_given/ http allow=127.0.0.1 block=2/1m/1s;
        }
CONF
my $n = 0;

sub ask {
    my (%o) = @_;
    my $name = 'b' . ++$n . '.pdb';
    $t->forget->route('/s/' . SymGiven::path_of($name, $n),
        status => $o{status} // 200, body => SymGiven::text_of($name, $n, prefix => 'f'));
    my $body = $t->body([$t->source('/s', %{ $o{source} // {} })], [$name, $n]);
    my $r = $t->post(($o{at} // '/symbolicate') . ($o{query} // ''), $body,
        'Content-Type' => 'application/json');
    my ($candidate) = @{ $r->{json}{modules}[0]{candidates} // [{}] };
    return { status => $t->status_of($r, 0), details => $candidate->{download}{details},
        what => $candidate->{download}{status}, asked => scalar(my @all = $t->requests) };
}

sub value {
    my ($name) = @_;
    my $r = $t->request('GET', '/metrics');
    return $r->{body} =~ /^symbolicate_\Q$name\E (\d+)$/m ? $1 : undef;
}

is(value('blocked_hosts'), 0, 'no host is blocked');

for my $status (404, 403, 401, 302, 400) {
    ask(status => $status);
}
is(ask()->{status}, 'found', 'answers of any kind do not block a host');

my $got = ask(status => 500);
is($got->{details}, 'download failed: 500 Internal Server Error', 'one failure');
is(ask(query => '?scope=2')->{status}, 'found', 'the host still gets requests');
is(ask(status => 503)->{asked}, 1, 'a second failure');

$got = ask();
is($got->{asked}, 0, 'then the host gets no request');
is($got->{status}, 'fetching_failed', '... which is a failure');
is($got->{what}, 'error', '... of a download');
is($got->{details}, 'download failed: Host 127.0.0.1 is temporarily blocked because '
    . 'there were too many download failures. It will remain blocked for a maximum of '
    . '1h. The error that triggered the block was: `download failed: 503 Service '
    . 'Unavailable`.', '... with the text of Symbolicator');
is(value('blocked_hosts'), 1, 'metrics count the host');
is(value('blocked_fetches_total'), 1, '... and the fetch');
my $told = $t->request('GET', '/admin/explain/x.so/00112233445566778899AABBCCDDEEFF0')->{json};
is($told->{blocked_hosts}[0]{host}, $t->address_of_servers, 'explain names the host');
is($told->{blocked_hosts}[0]{outcome}, '503', '... and the failure');

is(ask(query => '?scope=2')->{status}, 'found',
    'another scope still connects to the host');
is(ask(source => { is_public => JSON::PP::true }, query => '?scope=2')->{asked}, 0,
    '... but public files are shared by all: blocked, as without a scope');
is(ask(source => { id => 'sentry:x' })->{asked}, 1, 'a built-in source is never blocked');

$t->reload;
is(ask()->{asked}, 0, 'a reload does not forget the host');

# --- its time ---

for my $turn (1, 2) {
    is(ask(at => '/short/symbolicate', status => 500)->{asked}, 1, "turn $turn: a failure") for 1, 2;
    $t->wait_for(sub { value('blocked_hosts') == 1 }, 'the end of the block');
    is(ask(at => '/short/symbolicate')->{status}, 'found',
        '... the host gets a request again');
}

like($t->error_log, qr/symbol host "127.0.0.1:\d+" is blocked for 3600 s: 2 downloads failed/,
    'the log has a line');
is($t->end, '', 'nothing else');
done_testing();
