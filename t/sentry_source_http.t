# A request of Sentry's API names its own sources.  A file is fetched from
# there, stored, and available to the next request with the same source;
# statuses and redirects mean the same as in Symbolicator.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use Test::More;

my $t = SymGiven->new->start;

# --- the thin path ---

$t->symbols('/sym', 'a.pdb', 1);
my $r = $t->symbolicate([$t->source('/sym')], ['a.pdb', 1]);
is($r->{status}, 200, 'answered') or diag $r->{body};
is($t->function_of($r, 0), 'f0', 'a function from a source of the request');
is($t->status_of($r, 0), 'found', '... its module is found');

my @seen = $t->requests;
is(scalar(@seen), 1, 'one request at the source');
is($seen[0]{target}, '/sym/' . SymGiven::path_of('a.pdb', 1), '... for the file');
is($seen[0]{headers}{host}, $t->address_of_servers, '... with the Host of the URL');
like($seen[0]{headers}{'user-agent'}, qr{^ngx_symbolicate/\d}, '... and a name');
is($seen[0]{headers}{'accept-encoding'}, 'identity',
    '... for the unmodified file');

$t->forget;
$r = $t->symbolicate([$t->source('/sym', id => 'another')], ['a.pdb', 1]);
is($t->function_of($r, 0), 'f0', 'the same source under another id');
is(scalar(my @again = $t->requests), 0, '... gets no other request');

# --- by name ---

$t->names('sym.test' => [['127.0.0.1']]);
$t->symbols('/named', 'n.pdb', 2);
$r = $t->symbolicate([$t->source('/named',
    url => "http://sym.test:$t->{ports}{port}/named/")], ['n.pdb', 2]);
is($t->function_of($r, 0), 'f0', 'a source by name');
($r) = $t->requests;
is($r->{headers}{host}, "sym.test:$t->{ports}{port}",
    '... which the source receives');

# --- headers and userinfo ---

$t->forget->symbols('/auth', 'h.pdb', 3);
$t->symbolicate([$t->source('/auth', headers => { 'X-Key' => 'one', 'User-Agent'
    => 'mine/1' })], ['h.pdb', 3]);
($r) = $t->requests;
is($r->{headers}{'x-key'}, 'one', 'a header of the source');
is($r->{headers}{'user-agent'}, 'mine/1', '... may be its User-Agent');

$t->forget->symbols('/basic', 'u.pdb', 4);
$t->symbolicate([$t->source('/basic', url => 'http://user:pa%3Ass@'
    . $t->address_of_servers . '/basic?sig=s%2B1')], ['u.pdb', 4]);
($r) = $t->requests;
is($r->{headers}{authorization}, 'Basic dXNlcjpwYTpzcw==',
    'user and password of the URL');
like($r->{target}, qr{\?sig=s%2B1\z}, '... and its query');

# --- filters ---

$t->forget->symbols('/filter', 'f.pdb', 5);
for my $filters ({ path_patterns => ['*other*'] }, { requires_checksum => JSON::PP::true }) {
    $r = $t->symbolicate([$t->source('/filter', filters =>
        { filetypes => ['breakpad'], %$filters })], ['f.pdb', 5]);
    is($t->function_of($r, 0), undef, join(', ', keys %$filters) . ' leaves it out');
}
is(scalar(@again = $t->requests), 0, '... without a request');
$r = $t->symbolicate([$t->source('/filter', filters =>
    { filetypes => ['breakpad'], path_patterns => ['F.*'] })], ['f.pdb', 5]);
is($t->function_of($r, 0), 'f0', 'a pattern that matches the name');

# --- statuses ---

my $n = 10;

sub answered_with {
    my ($what, $want, %o) = @_;
    my $name = 's' . ++$n . '.pdb';
    $t->route("/st/" . SymGiven::path_of($name, $n), %o);
    my $got = $t->symbolicate([$t->source('/st')], [$name, $n]);
    is($got->{status}, 200, "$what: answered");
    is($t->status_of($got, 0), $want, "... $want");
    return;
}

answered_with('404', 'missing', status => 404);
answered_with('410', 'missing', status => 410);
answered_with('400', 'missing', status => 400);
answered_with('403', 'fetching_failed', status => 403);
answered_with('401', 'fetching_failed', status => 401);
answered_with('500', 'fetching_failed', status => 500);
answered_with('503', 'fetching_failed', status => 503);
answered_with('204', 'fetching_failed', status => 204);
answered_with('302 without a place', 'fetching_failed', status => 302);
answered_with('not a symbol file', 'malformed', body => "MODULE x\n");

# --- redirects ---

sub led {
    my ($what, $to, %o) = @_;
    my $name = 'r' . ++$n . '.pdb';
    my $path = SymGiven::path_of($name, $n);
    $t->forget->symbols('/moved', $name, $n);
    (my $there = $to) =~ s/%P/$path/;
    $t->route("/from/$path", status => $o{status} // 302,
        headers => { Location => $there });
    my $got = $t->symbolicate([$t->source('/from',
        headers => { 'X-Key' => 'secret' })], [$name, $n]);
    is($t->function_of($got, 0), $o{fails} ? undef : 'f0', $what)
        or diag $got->{body};
    return $t->requests;
}

my $port = $t->{ports}{port};
my @hops = led('an absolute redirect', "http://127.0.0.1:$port/moved/%P");
is($hops[-1]{headers}{'x-key'}, 'secret', '... at the same origin keeps headers');
led('a path', '/moved/%P', status => 307);
led('a relative one', ('../' x 2) . '../moved/%P', status => 301);
@hops = led('another name', "http://sym.test:$port/moved/%P", status => 308);
is($hops[-1]{headers}{host}, "sym.test:$port", '... with its own Host');
is($hops[-1]{headers}{'x-key'}, undef, '... gets no headers of the source');

for my $i (1 .. 10) {
    $t->route("/chain$i", status => 302,
        headers => { Location => '/chain' . ($i + 1) });
}
$t->route('/chain11', status => 302, headers => { Location => '/nowhere' });
@hops = led('a chain', '/chain1', fails => 1);
is(scalar(@hops), 11, '... is followed ten times');

# Many long headers are sent at each step for each path, which takes no
# additional memory.
my $long = 'l' . ++$n . '.pdb';
my $found = SymGiven::path_of($long, $n);
(my $plain = $found) =~ s/sym\z/pdb/;
(my $packed = $plain) =~ s/b\z/_/;
$t->forget->symbols('/long', $long, $n);
for my $place ($plain, $packed) {
    $t->route("/long/$place", status => 302, headers => { Location => '/chain3' });
}
$t->route('/chain11', status => 404);
$r = $t->symbolicate([$t->source('/long', filters => {},
    headers => { map { ("X-Key-$_" => 'v' x 8000) } 1 .. 30 })], [$long, $n]);
is($t->function_of($r, 0), 'f0', 'a file behind two long chains, with long headers')
    or diag $r->{body};
is(join(' ', sort map { $_->{download}{status} } @{ $r->{json}{modules}[0]{candidates} }),
    'notfound notfound notfound ok', '... to their ends');

led('another scheme', 'file:///etc/passwd', fails => 1);
led('no address', 'http://', fails => 1);

is($t->end, '', 'nothing else');
done_testing();
