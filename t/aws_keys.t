# AWS keys that nginx gets from an endpoint: instance metadata and a
# container's. t/lib/fault_server.py plays both; the keys are good if a real S3
# server accepts requests signed with them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFault;
use SymLoader ();
use SymS3;
use SymTest;
use Test::More;

my ($access, $secret, $token) = ('ASIAFIRST', 'first/secret', 'first/token==');
my $iam = '/latest/meta-data/iam/security-credentials/';
my $endless = 'x' x 65536;

my $s3 = SymS3->new->start;
my $s3_address = $s3->address;
$s3->bucket('symbols');
$s3->put('symbols', 'a', \'object a');
$s3->key($access, $secret, token => $token);
$s3->key('ASIASECOND', 'second/secret', token => 'second/token');

my $fault = SymFault->new->start;
my $fault_address = $fault->address;
my %good = (access_key => $access, secret_key => $secret, token => $token,
    expires_in_s => 3600, expiration => undef, code => 'Success',
    status => {}, body => {}, gate => undef, authorization => undef);
$fault->credentials(%good);

# Answers that must never become credentials, and what the log says about them.
my $no_token = qr/instance metadata gave no token/;
my $no_role = qr/instance metadata named no role/;
my $no_keys = qr/instance metadata gave none for its role/;
my $no_answer = qr/the answer does not hold any/;

my @bad = (
    ['token refused', { status => { token => 403 } }, $no_token],
    ['token: 500', { status => { token => 500 } }, $no_token],
    ['token: 201', { status => { token => 201 } }, $no_token],
    ['token: empty', { body => { token => '' } }, $no_token],
    ['token: a page', { body => { token => '<html> hello' } }, $no_token],
    ['token: long', { body => { token => 'x' x 1025 } }, $no_token],
    ['token not known', { body => { token => 'another' } }, $no_role],
    ['role: 404', { status => { role => 404 } }, $no_role],
    ['role: 500', { status => { role => 500 } }, $no_role],
    ['role: empty', { body => { role => "\n" } }, $no_role],
    ['role: a path', { body => { role => '../token' } }, $no_role],
    ['keys: 401', { status => { keys => 401 } }, $no_keys],
    ['keys: 404', { status => { keys => 404 } }, $no_keys],
    ['keys: 503', { status => { keys => 503 } }, $no_keys],
    ['keys: too long', { body => { keys => $endless . ' ' } }, $no_keys],
    ['keys: not JSON', { body => { keys => 'AccessKeyId: x' } }, $no_answer],
    ['keys: a list', { body => { keys => '[]' } }, $no_answer],
    ['keys: another code', { code => 'AssumeRoleUnauthorizedAccess' },
        qr/: the answer's Code is not Success/],
    ['keys: no token', { token => '' }, qr/: the answer has no Token/],
    ['keys: a header in one', { token => "x\r\ny" }, $no_answer],
    ['keys: expired', { expires_in_s => -1 }, qr/: they have expired/],
    ['keys: no date', { expiration => 'tomorrow' }, $no_answer],
);

my $sign = <<"CONF";
proxy_set_header Authorization        \$symbolicate_aws_authorization;
proxy_set_header X-Amz-Date           \$symbolicate_aws_date;
proxy_set_header X-Amz-Content-Sha256 \$symbolicate_aws_content_sha256;
proxy_set_header X-Amz-Security-Token \$symbolicate_aws_security_token;
proxy_pass http://$s3_address/symbols/;
CONF

# Each endpoint gives its own keys, whatever locations use them.
sub location {
    my ($name, $from, $via) = @_;
    return "location /$name/ { symbolicate_aws_sigv4 region=us-east-1 "
        . "credentials=$from via=/$via/; $sign }\n";
}

sub endpoint {
    my ($name, $rest) = @_;
    return "location /$name/ { internal; "
        . ($name eq '_blackhole' ? 'proxy_read_timeout 2s; ' : '')
        . "proxy_pass http://$fault_address/$rest; }\n";
}

local @ENV{qw(AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
    AWS_CONTAINER_AUTHORIZATION_TOKEN)}
    = ('/container/keys?id=7', 'Basic a b==');

my $t = SymTest->new->conf(
    http => "server { listen %%ADDRESS%%; server_name other;
        @{[location('first', 'instance', '_first')]}
        @{[endpoint('_first', '')]} }",
    server => 'server_name localhost;',
    locations => join('',
        map({ location($_, 'instance', "_$_") . endpoint("_$_", '') }
            qw(first many refresh), map {"bad$_"} 0 .. $#bad),
        map({ location($_, 'container', "_$_") . endpoint("_$_", '') }
            qw(container barred)),
        map({ location($_, 'instance', "_$_") } qw(hangup blackhole)),
        location('second', 'instance', '_first'),
        location('left', 'instance', '_many'),
        location('refreshed', 'instance', '_refresh'),
        location('nowhere', 'instance', '_nowhere'),
        location('loop', 'instance', 'loop'),
        location('open', 'instance', '_open'),
        "location /_open/ { proxy_pass http://$fault_address/; }",
        endpoint('_hangup', 'hangup/'),
        endpoint('_blackhole', 'blackhole/'),
        'location / { return 404; } location /__ { symbolicate_health; }'),
)->start;

sub get { return $t->request('GET', "/$_[0]/a") }

sub is_good {
    my ($location, $name) = @_;
    my $r = get($location);
    is($r->{status}, 200, $name) or diag($r->{body}, $t->error_log);
    is($r->{body}, 'object a', "$name: the object");
}

# --- they come ---

is_good('first', 'instance metadata');
is($fault->count('/latest/api/token'), 1, 'one token');
is($fault->count($iam), 1, 'one role');
is($fault->count("${iam}test-role"), 1, 'one answer with keys');
$fault->forget;
is_good('first', 'the next request');
is($fault->count, 0, 'asks nobody');
is_good('second', 'another location with the same endpoint');
is($fault->count, 0, '... sends no request either');
my $other = $t->request('GET', 'http://other/first/a');
is($other->{body}, 'object a', 'a location of that name in another server');
is($fault->count("${iam}test-role"), 1, '... is another endpoint');

$fault->credentials(authorization => 'Basic a b==');
is_good('container', "a container's endpoint");
is($fault->count('/container/keys'), 1, 'at the path of the environment');
$fault->credentials(authorization => 'Basic other');
is(get('barred')->{status}, 502, 'an endpoint that refuses');
like($t->error_log, qr/the container's endpoint gave none/, '... is told');

# --- requests wait for them, together ---

$fault->credentials(%good, gate => 'many');
$fault->forget;
my @waiting = map {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('GET', "/$_/a"));
    $socket
} qw(many many many left);
$fault->wait('/latest/api/token', count => 1);
$t->request('GET', '/__lbheartbeat__');    # all of them were read
close pop @waiting;
$fault->open_gate('many');
for my $socket (@waiting) {
    my $r = $t->response($socket, 'GET');
    is($r->{status}, 200, 'one of many that waited');
}
is($fault->count('/latest/api/token'), 1, 'one request for all of them');
is($fault->count("${iam}test-role"), 1, '... from two locations');

# --- they do not come ---

for my $i (0 .. $#bad) {
    my ($name, $told, $said) = @{$bad[$i]};
    my $before = length $t->error_log;

    $fault->credentials(%good, %$told);
    $s3->forget;
    my $r = get("bad$i");
    is($r->{status}, 502, "$name: no keys");
    is($s3->log, 0, "$name: no unsigned request was sent");
    like(substr($t->error_log, $before), qr/no AWS credentials: .*$said|$said/,
        "$name: the reason is logged");
}

is(get($_)->{status}, 502, "$_: no keys")
    for qw(hangup blackhole nowhere loop);
like($t->error_log, qr{"/loop/" is not asked .* "symbolicate_aws_sigv4" itself},
    'a location cannot ask itself');
is(get('open')->{status}, 502, 'a location open to all: no keys');
like($t->error_log, qr{"/_open/" is not asked .* it is not "internal"},
    '... since every client could read them');

# and are renewed without a request
$fault->credentials(%good);
for my $i (0 .. $#bad) {
    ok($t->wait_for(sub { get("bad$i")->{status} == 200 }, "bad$i"),
        "$bad[$i][0]: mended");
}

# --- they expire ---

$fault->credentials(%good, expires_in_s => 6);
is_good('refresh', 'keys for a short time');

# old keys are used while new ones cannot be fetched
$fault->credentials(status => { token => 500 });
$fault->forget;
my %seen;
$t->wait_for(sub {
    $seen{get('refresh')->{status}}++;
    $fault->count('/latest/api/token') >= 1 },
    'new ones are requested before they expire');
is_deeply([keys %seen], [200], 'and requests succeed meanwhile');
$t->wait_for(sub { get('refresh')->{status} == 502 },
    'expired ones are not used');

# the next keys are used when they have arrived, and no request fails
$fault->credentials(%good, expires_in_s => 6);
$t->wait_for(sub { get('refresh')->{status} == 200 }, 'they are fetched again');
$fault->credentials(access_key => 'ASIASECOND', secret_key => 'second/secret',
    token => 'second/token', expires_in_s => 3600);
$fault->forget;
%seen = ();
$t->wait_for(sub {
    $seen{get('refresh')->{status}}++;
    $fault->stats->{paths}{"${iam}test-role"}{done} },
        'new ones arrive in time');
is_deeply([keys %seen], [200], 'no request notices the change');
$s3->revoke($access);
is_good('refresh', 'the new ones are used');
$fault->forget;
is_good('refreshed', 'by another location as well');
is($fault->count, 0, '... which sends no request');

$t->reload;
is_good('refresh', 'a new worker has keys of its own');

$t->stop;
is($t->log_trouble, '', 'nothing alarming in the log');
unlike($t->error_log . $t->access_log,
    qr/\Q$secret\E|second.secret|\Q$token\E|second.token|Basic/,
    'no secret in the logs');

# --- a token in a file, which its owner renews ---

my $token_file = $t->dir . '/token';
delete @ENV{qw(AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
    AWS_CONTAINER_AUTHORIZATION_TOKEN)};
local $ENV{AWS_CONTAINER_CREDENTIALS_FULL_URI}
    = 'http://169.254.170.23/container/of/full';
local $ENV{AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE} = $token_file;
$s3->key($access, $secret, token => $token);
$fault->credentials(%good, authorization => 'renewed');

my $eks = SymTest->new->conf(locations => location('eks', 'container', '_ecs')
    . endpoint('_ecs', '') . 'location /__ { symbolicate_health; }')->start;
is($eks->request('GET', '/eks/a')->{status}, 502, 'no token without a file');
like($eks->error_log, qr/cannot open "\Q$token_file\E"/, '... is told');
SymLoader::write_file($token_file, "renewed\n");
$eks->wait_for(sub { $eks->request('GET', '/eks/a')->{status} == 200 },
    'a token in a file');
is($fault->count('/container/of/full'), 1, 'at the path of the full URI');
$eks->stop;
is($eks->log_trouble, '', 'nothing alarming in its log');

is($fault->trouble, '', 'the fault server has no error');
$fault->stop;
$s3->stop;
done_testing;
