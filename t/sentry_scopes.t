# Two requests share a fetched file only if each could have fetched it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

# The second location may not connect to 127.0.0.1.
my $t = SymGiven->new(sources => <<'CONF')->start;
        location /strict {
            symbolicate sentry;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_request_sources uri=/_given/ http;
        }
CONF
$t->symbols('/s', 'a.pdb', 1);

sub gets {
    my ($query, %o) = @_;
    $t->forget;
    my $r = $t->symbolicate_in($query, [$t->source('/s', %o)], ['a.pdb', 1]);
    is($t->function_of($r, 0), 'f0', 'answered') or diag $r->{body};
    return scalar(my @seen = $t->requests);
}

is(gets('?scope=one'), 1, 'a private source gets a request from one scope');
is(gets('?scope=one'), 0, '... once');
is(gets('?scope=two'), 1, '... and again in another');
is(gets('?scope=t%77o'), 0, '... which may be encoded');
is(gets('?sc%6Fpe=two'), 0, '... as its name may be');
is(gets(''), 1, '... and without a scope');

is(gets('?scope=one', is_public => JSON::PP::true), 1,
    'a public source gets a request');
is(gets('?scope=two', is_public => JSON::PP::true), 0, '... once for all scopes');

is(gets('?scope=one', headers => { 'X-Key' => 'a' }), 1, 'with a key');
is(gets('?scope=one', headers => { 'X-Key' => 'b' }), 1, 'with another key');
is(gets('?scope=one', headers => { 'X-Key' => 'a' }), 0, 'with the first one');

# A file that one location fetched must not appear at another that may not fetch
# it.
for my $is_public (JSON::PP::false, JSON::PP::true) {
    my $source = $t->source('/s', is_public => $is_public);
    my $r = $t->symbolicate([$source], ['a.pdb', 1]);
    is($t->function_of($r, 0), 'f0', 'a location that may connect to the host');
    $r = $t->post('/strict/symbolicate', $t->body([$source], ['a.pdb', 1]),
        'Content-Type' => 'application/json');
    is($t->status_of($r, 0), 'fetching_failed', '... and one that may not')
        or diag $r->{body};
}

# A scope that has not fetched the file gets the same answer as for a file that
# does not exist.
$t->route('/s/' . SymGiven::path_of('a.pdb', 1), status => 404);
my $r = $t->symbolicate_in('?scope=three', [$t->source('/s')], ['a.pdb', 1]);
is($t->status_of($r, 0), 'missing', 'a stored file does not show in another scope');
is($t->function_of($r, 0), undef, '... nor its functions');

is($t->end, '', 'nothing else');
done_testing();
