# Statuses, content types and texts of Sentry's API, equal to Symbolicator's,
# and paths that are not served.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymJobs;
use Test::More;

my $PLAIN = 'text/plain; charset=utf-8';
my $QUERY = 'Failed to deserialize query string: ';
my @JSON = ('Content-Type' => 'application/json');

my $t = SymJobs->new(how => 'client_max_body_size 10k;')->start;
$t->go;

# [name, method, path, headers, body] => [status, content type, body]
my @cases = (
    [['healthcheck', 'GET', '/healthcheck'], [200, $PLAIN, 'ok']],
    [['... HEAD', 'HEAD', '/healthcheck'], [200, $PLAIN, '']],
    [['... POST', 'POST', '/healthcheck', [], ''], [405, undef, '']],
    [['no route', 'GET', '/nothing'], [404, undef, '']],
    [['no route: POST', 'POST', '/', [], '{}'], [404, undef, '']],
    [['no route: below', 'POST', '/symbolicate/v5', \@JSON, '{}'],
        [404, undef, '']],
    [['no form', 'POST', '/applecrashreport', [], 'x'],
        [415, $PLAIN, 'Expected request with `Content-Type: multipart/form-data`']],
    [['wrong method', 'GET', '/symbolicate'], [405, undef, '']],
    [['wrong method', 'PUT', '/symbolicate', \@JSON, '{}'], [405, undef, '']],
    [['wrong method', 'OPTIONS', '/symbolicate'], [405, undef, '']],
    [['wrong method', 'POST', '/requests/x', \@JSON, '{}'], [405, undef, '']],
    [['no content type', 'POST', '/symbolicate', [], '{}'],
        [415, $PLAIN, 'Expected request with `Content-Type: application/json`']],
    [['another content type', 'POST', '/symbolicate',
        ['Content-Type' => 'text/json'], '{}'],
        [415, $PLAIN, 'Expected request with `Content-Type: application/json`']],
    [['content types of JSON', 'POST', '/symbolicate',
        ['Content-Type' => 'Application/JSON;charset=utf-8'], '{}'],
        [200, 'application/json', qr/"completed"/]],
    [['content types of JSON', 'POST', '/symbolicate',
        ['Content-Type' => 'application/problem+json'], '{}'],
        [200, 'application/json', qr/"completed"/]],
    [['too long', 'POST', '/symbolicate', \@JSON, '"' . 'x' x 12000 . '"'],
        [413, $PLAIN, 'Failed to buffer the request body: length limit exceeded']],
    [['no JSON', 'POST', '/symbolicate', \@JSON, '{'],
        [400, $PLAIN, qr/^Failed to parse the request body as JSON/]],
    [['another shape', 'POST', '/symbolicate', \@JSON, '"text"'],
        [422, $PLAIN, qr/^Failed to deserialize the JSON body into the target type: /]],
    [['a header that is not text', 'POST', '/symbolicate', \@JSON,
        '{"scraping": {"enabled": true, "allowed_origins": [], "headers": {"a": {}}}}'],
        [422, $PLAIN, qr/scraping\.headers: invalid type: map, expected a string/]],
    [['an origin that is not text', 'POST', '/symbolicate', \@JSON,
        '{"scraping": {"enabled": true, "allowed_origins": [1], "headers": {}}}'],
        [422, $PLAIN, qr/scraping\.allowed_origins: invalid type: .*, expected a string/]],
    [['bad query', 'POST', '/symbolicate?timeout=x', \@JSON, '{}'],
        [400, $PLAIN, "${QUERY}timeout: invalid digit found in string"]],
    [['a bad query is checked first', 'POST', '/symbolicate?timeout=-1', [], '{'],
        [400, $PLAIN, "${QUERY}timeout: invalid digit found in string"]],
    [['bad query of a poll', 'GET',
        '/requests/00000000-0000-4000-8000-000000000000?timeout=1.5'],
        [400, $PLAIN, "${QUERY}timeout: invalid digit found in string"]],
    [['refused at once', 'POST', '/symbolicate?timeout=0', \@JSON, '{'],
        [400, $PLAIN, qr/^Failed to parse/]],
    [['unknown id', 'GET', '/requests/00000000-0000-4000-8000-000000000000'],
        [404, undef, '']],
    [['not an id', 'GET', '/requests/..%2f'], [404, undef, '']],
    [['not an id', 'GET', '/requests/'], [404, undef, '']],
    [['not an id', 'GET',
        '/requests/00000000-0000-4000-8000-000000000000/'],
        [404, undef, '']],
    [['unknown query', 'POST', '/symbolicate?x=1&scope=a', \@JSON, '{}'],
        [200, 'application/json', qr/"completed"/]],
);

for my $case (@cases) {
    my ($ask, $want) = @$case;
    my ($what, $method, $path, $headers, $body) = @$ask;
    my $r = $t->request($method, $path, headers => [@{$headers // []}],
        body => $body);
    $what .= " ($method $path)";
    is($r->{status}, $want->[0], "$what: status");
    is($r->{headers}{'content-type'}, $want->[1], '... content type');
    ref $want->[2] ? like($r->{body}, $want->[2], '... body')
        : is($r->{body}, $want->[2], '... body');
}

is($t->request('GET', '/symbolicate')->{headers}{allow}, 'POST', 'Allow');
is($t->request('PUT', '/healthcheck')->{headers}{allow}, 'GET, HEAD', 'Allow');

my $r = $t->symbolicate('', ());
ok(!grep({ /^access-control/ }
    keys %{$t->post('/symbolicate', '{}', @JSON, Origin => 'http://x')
        ->{headers}}), 'no CORS headers');

# --- random ids reveal nothing ---

my %answers;
for (1 .. 200) {
    my $id = join '-', map { join '', map { sprintf '%x', rand 16 } 1 .. $_ }
        8, 4, 4, 4, 12;
    my $poll = $t->result($id, '?timeout=60');
    $answers{"$poll->{status} $poll->{body}"}++;
}
is_deeply(\%answers, { '404 ' => 200 }, 'random ids are unknown, at once');

# --- no store ---

rename $t->store, $t->store . '.away';
$r = $t->wait_for(sub {
    my $answer = $t->symbolicate('', $t->modules(1));
    return ($answer->{status} // 0) == 503 && $answer;
}, 'a store that is gone');
like($r->{body}, qr/^\{"detail": "the symbol store/, 'our own errors are JSON');
is($r->{headers}{'content-type'}, 'application/json', '... by type');
rename $t->store . '.away', $t->store;

is($t->stop->log_trouble, '', 'nothing is wrong');

done_testing();
