# A gcs source with the key of a service account: the key signs a grant, which
# is exchanged for a token, once for many files.  The address rules apply to the
# token server, too; key and token are sent nowhere else.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use MIME::Base64 qw(decode_base64url);
use SymGiven;
use SymTest;
use Test::More;

my $dir = tempdir('symtest-XXXXXX', TMPDIR => 1, CLEANUP => 1);

# OpenSSL is the independent side: it makes the keys, and verifies the
# signatures.
sub key {
    my ($name, @how) = @_;
    system("openssl genpkey -out $dir/$name @how 2>$dir/err") == 0
        or BAIL_OUT(SymTest::slurp("$dir/err"));
    return SymTest::slurp("$dir/$name");
}
my $pem = key('rsa', '-algorithm RSA -pkeyopt rsa_keygen_bits:2048');
system("openssl pkey -in $dir/rsa -pubout -out $dir/public") == 0 or die;

my $t = SymGiven->new(types => 'gcs storage=http://%%HTTP%%/ token=http://%%HTTP%%/token')->start;
my %source = (id => 'gcs', type => 'gcs', bucket => 'sym-1', prefix => 'v1',
    client_email => 'reader"1@project.test', private_key => $pem,
    filters => { filetypes => ['breakpad'] });
my $n = 0;

sub token {
    my ($token, %o) = @_;
    return $t->route('/token', body => $t->json({ access_token => $token,
        token_type => 'Bearer', expires_in => 3599 }), %o);
}

# Requests a file that exists for the bearer of a token.
sub ask {
    my ($name, %o) = @_;
    (my $key = 'v1/' . SymGiven::path_of($name, ++$n)) =~ s{/}{%2F}g;
    $t->forget->route("/storage/v1/b/sym-1/o/$key?alt=media", status => $o{status} // 200,
        body => SymGiven::text_of($name, $n, prefix => 'f'));
    my $r = $t->symbolicate([{ %source, %{ $o{source} // {} } }], [$name, $n]);
    my ($candidate) = @{ $r->{json}{modules}[0]{candidates} // [{}] };
    return ($r, $candidate->{download}{details}, $t->requests);
}

# --- the exchange ---

token('ya29.one');
my ($r, $details, @seen) = ask('a.pdb');
is($t->function_of($r, 0), 'f0', 'an object') or diag $r->{body};
is(join(' ', map {"$_->{method}"} @seen), 'POST GET', 'a grant, then the file');
is($seen[0]{target}, '/token', '... to the address of tokens');
is($seen[0]{headers}{'content-type'}, 'application/x-www-form-urlencoded', '... as a form');
is($seen[0]{headers}{authorization}, undef, '... without credentials');
is($seen[1]{headers}{authorization}, 'Bearer ya29.one', 'the file, with the token');
unlike($seen[1]{body}, qr/./, '... and no body');

my ($grant, $jwt) = $seen[0]{body} =~ /\Agrant_type=([^&]+)&assertion=([\w.-]+)\z/;
is($grant, 'urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer', 'the grant of RFC 7523');
my ($header, $claims, $signature) = split /[.]/, $jwt;
is_deeply(decode_json(decode_base64url($header)), { alg => 'RS256', typ => 'JWT' }, 'header');
my $said = decode_json(decode_base64url($claims));
cmp_ok(abs($said->{iat} - time), '<', 60, 'issued now');
is($said->{exp} - $said->{iat}, 58 * 60 + 30, '... for an hour at most');
is($said->{iss}, 'reader"1@project.test', '... by the account');
is($said->{aud}, 'http://' . $t->address_of_servers . '/token', '... for the address of tokens');
is($said->{scope}, 'https://www.googleapis.com/auth/devstorage.read_only', '... to read');

SymLoader::write_file("$dir/signature", decode_base64url($signature));
SymLoader::write_file("$dir/text", "$header.$claims");
like(`openssl dgst -sha256 -verify $dir/public -signature $dir/signature $dir/text`,
    qr/Verified OK/, 'OpenSSL verifies the signature');

# --- the token is reused ---

token('ya29.two');
($r, $details, @seen) = ask('b.pdb');
is(scalar(@seen), 1, 'no second exchange for another file');
is($seen[0]{headers}{authorization}, 'Bearer ya29.one', '... whose token is the same');
(my $escaped = $pem) =~ s/\n/\\n/g;
($r, $details, @seen) = ask('c.pdb', source => { private_key => $escaped });
is(join(' ', map {"$_->{method}"} @seen), 'POST GET', 'a key with the escapes of JSON');
is($seen[1]{headers}{authorization}, 'Bearer ya29.two', '... is a key');
($r, $details, @seen) = ask('d.pdb', source => { client_email => 'other@x.test' });
is($seen[0]{method}, 'POST', 'another account has a token of its own');

ask('e.pdb', status => 401);
($r, $details, @seen) = ask('f.pdb');
is($seen[0]{method}, 'POST', 'after 401 there is another exchange');
token('ya29.short', body => '{"access_token": "ya29.short", "expires_in": 30}');
for my $name ('g.pdb', 'h.pdb') {
    ($r, $details, @seen) = ask($name, source => { client_email => 'short@x.test' });
    is($seen[0]{method}, 'POST', "$name: a token that is about to expire is not kept");
    is($t->function_of($r, 0), 'f0', '... but used');
}

# --- failures ---

my $failing = 0;

sub fails {
    my ($what, $want, $requests, %o) = @_;
    my ($got, $text, @asked) = ask('x' . ++$failing . '.pdb', source =>
        { client_email => "x$failing\@x.test", %{ $o{source} // {} } });
    is($t->status_of($got, 0), 'fetching_failed', "$what: fetching_failed");
    is($text, "download failed: $want", '... with the text of Symbolicator');
    is(scalar(@asked), $requests, "... after $requests requests");
    unlike($got->{body}, qr/PRIVATE|ya29/, '... and nothing secret');
    return;
}

my $auth = 'failed to send authentication request';
token('', status => 400, body => '{"error": "invalid_grant"}');
fails('a refused key', $auth, 1);
token('', status => 302, headers => { Location => '/elsewhere' });
fails('a redirect', $auth, 1);
for my $body ('', '{}', '[]', '{"access_token": 1}', '{"access_token": ""}',
    '{"access_token": "a\r\nHost: b"}', '{"access_token": "' . 'x' x 2049 . '"}', 'x' x 20000)
{
    token('', body => $body);
    fails('answer ' . substr($body, 0, 24), $auth, 1);
}
my $jwt_failed = 'failed encoding JWT';
my $ec = key('ec', '-algorithm EC -pkeyopt ec_paramgen_curve:P-256');
my $small = key('small', '-algorithm RSA -pkeyopt rsa_keygen_bits:1024');
system("openssl pkey -in $dir/rsa -aes128 -passout pass:x -out $dir/locked") == 0 or die;
my $locked = SymTest::slurp("$dir/locked");
my $primes = key('primes', '-algorithm RSA -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_keygen_primes:3');
for my $case ([ 'no key', 'nothing' ], [ 'half a key', substr($pem, 0, 600) ], [ 'EC', $ec ],
    [ '1,024 bits', $small ], [ 'a key with a password', $locked ], [ 'three primes', $primes ])
{
    fails($case->[0], $jwt_failed, 0, source => { private_key => $case->[1] });
}

is($t->end, '', 'nothing else');
unlike($t->error_log . $t->access_log . $t->loader_log, qr/ya29|PRIVATE|MII/, 'no log has key or token');
my $store = $t->store;
is(`grep -rlaE 'ya29|PRIVATE KEY' $store`, '', 'nor has the store');

# --- the token server's address ---

my $u = SymGiven->new(allow => 'allow=127.0.0.2',
    types => 'gcs storage=http://127.0.0.2:1/ token=http://%%HTTP%%/token')->start;
$u->route('/token', body => '{"access_token": "ya29.x"}');
$r = $u->symbolicate([{ %source }], ['a.pdb', 1]);
is($u->status_of($r, 0), 'fetching_failed', 'a token server at a reserved address');
is(scalar(@seen = $u->requests), 0, '... gets no request');
is($u->end, '', 'nothing else');
# --- a signature costs milliseconds, and any client can send a key ---

my $refusing = SymGiven->new(types => 'gcs storage=http://%%HTTP%%/ token=http://%%HTTP%%/token',
    ttl => 'symbolicate_negative_ttl absent=1s malformed=1s failed=10m;')->start;

# How many requests the token server gets for 40 modules with the given number
# of accounts each.
sub exchanges {
    my ($t, @accounts) = @_;
    my @modules = map { ['y' . ++$n . '.pdb', $n] } 1 .. 40;
    $t->forget;
    my $r = $t->symbolicate([map { { %source, id => $_, client_email => "$_\@x.test" } }
        @accounts], @modules);
    is(scalar(grep { $_->{debug_status} eq 'fetching_failed' } @{ $r->{json}{modules} }), 40,
        'no module is fetched');
    return scalar(grep { $_->{target} eq '/token' } $t->requests);
}

$refusing->route('/token', status => 400, body => '{"error": "invalid_grant"}');
is(exchanges($refusing, 'a'), 1, 'a refused key: one exchange for many modules');
is(exchanges($refusing, 'a'), 0, '... and none for a later request');
is(exchanges($refusing, 'a' .. 'f'), 5, 'each other account is tried once');
is($refusing->end, '', 'nothing is wrong');

done_testing();
