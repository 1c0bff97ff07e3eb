# Requests to S3 that nginx signs: the signed request is exactly what proxy_pass
# sends, however it is assembled.  t/lib/SymS3.pm judges: it refuses what S3
# refuses.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader ();
use SymS3;
use SymTest;
use Test::More;

my $s3 = SymS3->new(region => 'eu-central-1')->start;
my ($access, $secret) = ($s3->access, $s3->secret);
my $address = $s3->address;
$s3->bucket('symbols');
$s3->key('ASIATEMPORARY', 'temporary/secret', token => 'the/token+of==it');

# as S3 has them, and as they are in a request line
my $odd = 'x {y}@<1>~.so/1 2';
my %object = (
    'a/B/a.sym' => '/a/B/a.sym',
    $odd => '/x%20%7By%7D%40%3C1%3E~.so/1%202',
    'x+y' => '/x%2By',
    "100%/\x{c3}\x{a9}&=?;:" => '/100%25/%C3%A9%26%3D%3F%3B%3A',
);
$s3->put('symbols', $_, \"object $_") for keys %object;

my $headers = <<'CONF';
proxy_set_header Authorization        $symbolicate_aws_authorization;
proxy_set_header X-Amz-Date           $symbolicate_aws_date;
proxy_set_header X-Amz-Content-Sha256 $symbolicate_aws_content_sha256;
proxy_set_header X-Amz-Security-Token $symbolicate_aws_security_token;
CONF

sub static {
    my ($user, $password, @more) = @_;
    return "symbolicate_aws_sigv4 region=eu-central-1 credentials=static "
        . "access_key=$user secret_key=$password @more;";
}

my $keys = static($access, $secret);
my $temporary = static('ASIATEMPORARY', 'temporary/secret',
    'token=the/token+of==it');

sub location {
    my ($name, $text) = @_;
    return "location $name { $headers $text }\n";
}

local @ENV{qw(AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN)}
    = ('ASIATEMPORARY', 'temporary/secret', 'the/token+of==it');

my $t = SymTest->new;
my $file = $t->dir . '/credentials';
SymLoader::write_file($file, "[default]\naws_access_key_id = AKIDNOBODY\n"
    . "aws_secret_access_key = x\n[symbols]\naws_access_key_id = $access\n"
    . "aws_secret_access_key = $secret\n");

my $locations = join '',
    'merge_slashes off; resolver 127.0.0.1; ',
    location('/path/', "$keys proxy_pass http://$address/symbols/;"),
    location('/symbols/', "$keys proxy_pass http://$address;"),
    location('/bare', "$keys proxy_pass http://$address/symbols;"),
    location('~ ^/regex/(.*)$',
        "$keys proxy_pass http://$address/symbols/\$1;"),
    location('/variable/', "$keys "
        . "set \$at $address; rewrite ^/variable/(.*)\$ /symbols/\$1 break; "
        . 'proxy_pass http://$at;'),
    location('/bucket/', "$keys proxy_pass http://store/; proxy_set_header "
        . 'Host symbols.s3.eu-central-1.amazonaws.com;'),
    location('/keepalive/', "$keys proxy_pass http://store/symbols/; "
        . "proxy_set_header Host $address; "
        . 'proxy_http_version 1.1; proxy_set_header Connection "";'),
    location('/more/', "$keys proxy_pass http://$address/symbols/; "
        . 'proxy_set_header X-Amz-Request-Payer requester; '
        . 'proxy_set_header Range bytes=0-5;'),
    location('/inside/', "$keys proxy_set_header X-Map \$mapped; "
        . "if (\$arg_never) { return 404; } "
        . "location /inside/deep/ { proxy_pass http://$address/symbols/; } "
        . "proxy_pass http://$address/symbols/;"),
    location('/token/', "$temporary proxy_pass http://$address/symbols/;"),
    location('/env/', 'symbolicate_aws_sigv4 region=eu-central-1 '
        . "credentials=env; proxy_pass http://$address/symbols/;"),
    location('/file/', 'symbolicate_aws_sigv4 region=eu-central-1 '
        . "credentials=file file=$file profile=symbols; "
        . "proxy_pass http://$address/symbols/;"),
    location('/again/', 'symbolicate_aws_sigv4 region=eu-central-1 '
        . "credentials=file file=$file profile=symbols; "
        . "proxy_pass http://$address/symbols/;"),
    location('/wrong/', static($access, "not$secret")
        . "proxy_pass http://$address/symbols/;"),
    location('/nobody/', static('AKIDNOBODY', $secret)
        . "proxy_pass http://$address/symbols/;"),
    location('/far/', "symbolicate_aws_sigv4 region=us-east-1 "
        . "credentials=static access_key=$access secret_key=$secret; "
        . "proxy_pass http://$address/symbols/;"),
    location('/unsigned/', "proxy_pass http://$address/symbols/;"),
    location('/late/', "$keys return 200 "
        . '"[$symbolicate_aws_authorization]";');

$t->conf(
    http => "upstream store { server $address; keepalive 4; }\n"
        . 'map $symbolicate_aws_date $mapped { "" none; default $http_host; }',
    locations => $locations . 'location /__ { symbolicate_health; }',
)->start;

sub get {
    my ($path, %opt) = @_;
    $s3->forget;
    return $t->request($opt{method} // 'GET', $path, %opt);
}

sub ok_get {
    my ($path, $key, $name, %opt) = @_;
    my $r = get($path, %opt);
    is($r->{status}, 200, "$name: taken") or diag($r->{body});
    is($r->{body}, "object $key", "$name: the object");
    my ($asked) = $s3->log;
    ok($asked->{signed}, "$name: with a signature");
}

for my $key (sort keys %object) {
    my $path = $object{$key};
    ok_get("/symbols$path", $key, "the path as received, $path");
    # nginx decodes a path that it appends to another, and %2B becomes a plus
    ok_get("/path$path", $key, "path style, $path") if $key !~ /\+/;
}

ok_get("/bare$object{$odd}", $odd, 'proxy_pass without a slash');
ok_get("/bucket$object{$odd}", $odd, 'the bucket in Host');
ok_get('/regex/a/B/a.sym', 'a/B/a.sym', 'a regular expression');
ok_get('/variable/a/B/a.sym', 'a/B/a.sym', 'proxy_pass with variables');
ok_get('/inside/a/B/a.sym', 'a/B/a.sym', 'a location with an if');
ok_get('/inside/deep/a/B/a.sym', 'a/B/a.sym', 'a location inside');
ok_get('/keepalive/a/B/a.sym', 'a/B/a.sym', "keepalive, time $_") for 1, 2;
ok_get('/token/a/B/a.sym', 'a/B/a.sym', 'a session token');
ok_get('/env/a/B/a.sym', 'a/B/a.sym', 'keys of the environment');
ok_get('/file/a/B/a.sym', 'a/B/a.sym', 'keys of a file');
ok_get('/path/a/B/a.sym', 'a/B/a.sym', "a client's own headers",
    headers => ['X-Amz-Date', '20000101T000000Z', 'Authorization', 'Basic x',
        'x-amz-meta-of-client', 'yes']);

my $part = get('/more/a/B/a.sym');
is($part->{status}, 206, "S3's other headers are signed too")
    or diag($part->{body});
is($part->{body}, 'object', 'a part of the object');

is(get('/path/a/B/a.sym', method => 'HEAD')->{status}, 200, 'HEAD');
is(get('/path/a/B/a.sym?response-content-type=text/x')->{status}, 200,
    'a query is signed');
my $put = get('/path/new', method => 'PUT', body => 'brought');
is($put->{status}, 200, 'PUT of a body') or diag($put->{body});
is(get('/path/new')->{body}, 'brought', '... which is stored');
is(get('/path/absent')->{status}, 404, 'an absent key');

for (['/wrong', 403, qr/SignatureDoesNotMatch/, 'a wrong secret'],
    ['/nobody', 403, qr/InvalidAccessKeyId/, 'an unknown access key'],
    ['/far', 400, qr/AuthorizationHeaderMalformed/, 'another region'],
    ['/unsigned', 403, qr/AccessDenied/, 'no directive: no signature'])
{
    my ($path, $status, $body, $name) = @$_;
    my $r = get("$path/a/B/a.sym");
    is($r->{status}, $status, $name);
    like($r->{body}, $body, "$name: its code");
}

# a plus in a path is ambiguous, so there is no right signature
my $plus = get('/path/x%2By');
is($plus->{status}, 400, 'a bare plus is refused');
like($plus->{body}, qr/InvalidRequest/, '... and not sent without a signature');
like($t->error_log, qr/a request was not signed: a \+ in a URI/,
    '... for a reason that is logged');

is(get('/late/x')->{body}, '[]', 'no proxy_pass, no signature');

# --- a file that changes ---

SymLoader::write_file("$file.new", "[symbols]\naws_access_key_id=AKIDNOBODY\n"
    . "aws_secret_access_key=$secret\n");
rename "$file.new", $file or die;
$t->wait_for(sub { get('/file/a/B/a.sym')->{status} == 403 },
    'a changed file is read again');

SymLoader::write_file("$file.new", "no credentials, $secret\n");
rename "$file.new", $file or die;
$t->wait_for(sub { get('/file/a/B/a.sym'); $t->error_log
        =~ /has changed, but cannot be used: malformed: / },
    'a broken file is logged');
like(get('/file/a/B/a.sym')->{body}, qr/InvalidAccessKeyId/,
    'and changes nothing');
like(get('/again/a/B/a.sym')->{body}, qr/InvalidAccessKeyId/,
    'two locations share the keys of a file');
is(scalar(() = $t->error_log =~ /has changed, but cannot be used/g), 1,
    '... read once');

SymLoader::write_file("$file.new", "[symbols]\naws_access_key_id=$access\n"
    . "aws_secret_access_key=$secret\n");
rename "$file.new", $file or die;
$t->wait_for(sub { get('/file/a/B/a.sym')->{status} == 200 },
    'until it is repaired');

$t->stop;
is($t->log_trouble, '', 'nothing alarming in the log');
unlike($t->error_log . $t->access_log, qr/\Q$secret\E|temporary\/secret/,
    'no secret in the logs');
$s3->stop;
done_testing;
