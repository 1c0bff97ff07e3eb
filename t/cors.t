# The Firefox profiler and other pages call the server from a browser, which
# passes an answer to its script, good or bad, only if it has CORS headers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $EXPOSE = 'accept, accept-encoding, authorization, content-type, dnt, '
    . 'origin, user-agent, x-csrftoken, x-requested-with';
my $empty = '{"stacks":[[[-1,16]]],"memoryMap":[]}';
my @origin = (Origin => 'https://profiler.firefox.com');

my $t = SymTest->new->conf(server => 'client_max_body_size 10k;',
    locations => <<'CONF')->start;
        location /symbolicate     { symbolicate; }
        location /off/symbolicate { symbolicate; symbolicate_cors off; }
        location /__              { symbolicate_health; }
        location /files/          { symbolicate files; symbolicate_cors on; }
        location /secret/         { symbolicate files; }
        location /limited         { symbolicate; limit_except GET { deny all; } }
CONF

sub has_cors {
    my ($r, $status, $name) = @_;
    is($r->{status}, $status, "$name: $status");
    is($r->{headers}{'access-control-allow-origin'}, '*', "$name: origin");
    is($r->{headers}{'access-control-expose-headers'}, $EXPOSE,
        "$name: exposed headers");
}

sub has_none {
    my ($r, $status, $name) = @_;
    is($r->{status}, $status, "$name: $status");
    is_deeply([grep {/^access-control/} keys %{$r->{headers}}], [],
        "$name: no CORS header");
}

# there is no store: 503 is the answer to a good request here

has_cors($t->post('/symbolicate/v5', $empty, @origin), 503, 'POST');
has_none($t->post('/symbolicate/v5', $empty), 503, 'POST without Origin');
has_cors($t->post('/symbolicate/v5', '{', @origin), 400, 'bad JSON');
has_cors($t->post('/symbolicate/v6', $empty, @origin), 404, 'unknown path');
has_cors($t->request('GET', '/symbolicate/v5', headers => [@origin]), 405,
    'GET');
has_cors($t->post('/symbolicate/v5', ' ' x 20000, @origin), 413,
    'a body that nginx refuses');
has_cors($t->request('POST', '/symbolicate/v5', chunks => [' ' x 20000],
    headers => [@origin]), 413, 'chunks that nginx refuses');
has_cors($t->post('/symbolicate/v5', $empty, @origin,
    'Content-Encoding' => 'br'), 415, 'unknown encoding');
has_cors($t->post('/limited/v5', $empty, @origin), 403, 'denied by nginx');
has_cors($t->request('GET', '/__lbheartbeat__', headers => [@origin]), 200,
    'health');

# files have it only if their own location asks for it, as Mozilla's symbol server does

has_cors($t->request('GET', '/files/a/1/a.sym', headers => [@origin]), 404, 'files');
is($t->request('GET', '/files/a/1/a.sym')->{headers}{'access-control-allow-origin'}, '*', '... without Origin, too');
has_none($t->request('GET', '/secret/a/1/a.sym', headers => [@origin]), 404, 'files by default');
is($t->request('OPTIONS', '/files/a/1/a.sym', headers => [@origin])->{status}, 405, 'OPTIONS of a file');

# --- preflight ---

my @ask = (@origin, 'Access-Control-Request-Method' => 'POST');

my $r = $t->request('OPTIONS', '/symbolicate/v5', headers => [@ask,
    'Access-Control-Request-Headers' => 'Content-Type, X-Own']);
has_cors($r, 200, 'preflight');
is($r->{headers}{'content-length'}, 0, 'preflight: empty');
is($r->{headers}{'access-control-allow-methods'}, 'POST',
    'preflight: methods');
is($r->{headers}{'access-control-allow-headers'}, 'Content-Type, X-Own',
    'preflight: the requested headers, as requested');
is($r->{headers}{'access-control-max-age'}, 86400,
    'preflight: cached for a day');
is($r->{headers}{allow}, undef, 'preflight: no Allow');

$r = $t->request('OPTIONS', '/symbolicate/v4', headers => [@ask]);
is($r->{headers}{'access-control-allow-headers'}, '*',
    'preflight that asks for no header: *');

$r = $t->request('OPTIONS', '/__heartbeat__', headers => [@ask]);
is($r->{headers}{'access-control-allow-methods'}, 'GET',
    'preflight of a health page');

has_cors($t->request('OPTIONS', '/symbolicate/v6', headers => [@ask]), 404,
    'preflight of an unknown path');

$r = $t->request('OPTIONS', '/symbolicate/v5', headers => [@origin]);
has_cors($r, 200, 'OPTIONS with Origin alone is no preflight');
is($r->{headers}{allow}, 'POST', 'OPTIONS with Origin alone: Allow');

# --- off ---

has_none($t->post('/off/symbolicate/v5', $empty, @origin), 503, 'off: POST');
$r = $t->request('OPTIONS', '/off/symbolicate/v5', headers => [@ask]);
has_none($r, 200, 'off: a preflight is ordinary OPTIONS');
is($r->{headers}{allow}, 'POST', 'off: Allow');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
