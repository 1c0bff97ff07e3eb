# Which paths and methods are served.  Load balancers, browsers and monitoring
# depend on the exact status, Allow header and body of the others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $t = SymTest->new->load(SymTest::symbol_file(
    'overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'))->start;

my $empty = '{"stacks":[[[-1,16]]],"memoryMap":[]}';

sub is_error {
    my ($r, $status, $title, $name) = @_;
    is($r->{status}, $status, "$name: $status");
    is($r->{body}, qq({"title": "$title"}), "$name: body");
    is($r->{headers}{'content-type'}, 'application/json', "$name: type");
    is($r->{headers}{vary}, 'Accept', "$name: Vary");
}

# --- paths ---

for my $path ('/symbolicate/v5', '/symbolicate/v4', '/', '//symbolicate/v5',
    '/symbolicate/v5?debug=1')
{
    my $r = $t->post($path, $empty);
    is($r->{status}, 200, "POST $path");
    is($r->{headers}{'content-type'}, 'application/json', "$path: type");
}

for my $path ('/symbolicate/v5/', '/symbolicate/v6', '/symbolicate',
    '/symbolicate/', '/symbolicate/v', '/symbolicate/xv5',
    '/symbolicate/other/v5', '/symbolicatev5')
{
    is_error($t->post($path, $empty), 404, '404 Not Found', "POST $path");
}

is_error($t->request('GET', '/symbolicate/v6'), 404, '404 Not Found',
    'GET of an unknown path: the path is checked first');

# --- methods ---

for my $path ('/symbolicate/v5', '/symbolicate/v4', '/') {
    for my $method (qw(GET PUT DELETE PATCH)) {
        my $r = $t->request($method, $path);
        is_error($r, 405, '405 Method Not Allowed', "$method $path");
        is($r->{headers}{allow}, 'POST, OPTIONS', "$method $path: Allow");
    }
}

my $r = $t->request('HEAD', '/symbolicate/v5');
is($r->{status}, 405, 'HEAD is not POST');
is($r->{headers}{allow}, 'POST, OPTIONS', 'HEAD: Allow');

$r = $t->request('OPTIONS', '/symbolicate/v5');
is($r->{status}, 200, 'plain OPTIONS');
is($r->{headers}{allow}, 'POST', 'plain OPTIONS: Allow');
is($r->{headers}{'content-length'}, 0, 'plain OPTIONS: empty');

is_error($t->request('OPTIONS', '/symbolicate/v6'), 404, '404 Not Found',
    'OPTIONS of an unknown path');

$r = $t->request('FOO', '/symbolicate/v5');
is($r->{status}, 400, 'a method that does not exist');
is_deeply($r->{json},
    { title => 'Bad request', description => 'Invalid HTTP method' },
    'a method that does not exist: body');

# --- a refused request leaves the connection usable ---

my $socket = $t->connect;
$t->send_all($socket, $t->request_text('PUT', '/symbolicate/v5',
    body => 'x' x 5000, keepalive => 1));
is($t->response($socket)->{status}, 405, 'PUT with a body');
$t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
    body => $empty, keepalive => 1));
is($t->response($socket)->{status}, 200, 'POST on the same connection');
close $socket;

is($t->stop->log_trouble, '', 'the log is clean');

# --- where a location may be configured ---

$t = SymTest->new->conf(locations => <<'CONF')->start;
        location /api/                       { symbolicate; }
        location = /exact/symbolicate/v5     { symbolicate; }
        location ~ ^/r[0-9]/symbolicate/     { symbolicate; }
CONF

for my $path ('/api/v5', '/api/symbolicate/v4', '/exact/symbolicate/v5',
    '/r1/symbolicate/v5')
{
    # no store here: 503 shows that it is a route for symbols
    is($t->post($path, $empty)->{status}, 503, "$path is served");
}

for my $path ('/api/x/v5', '/r1/symbolicate/x/v5', '/api/x/symbolicate/v5') {
    is($t->post($path, $empty)->{status}, 404, "$path is not");
}

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
