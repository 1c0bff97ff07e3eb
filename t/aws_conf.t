# Parameters of symbolicate_aws_sigv4, and the errors of nginx -t about others;
# an error never contains a secret.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader ();
use SymTest;
use Test::More;

delete local @ENV{grep {/^AWS_/} keys %ENV};

my $t = SymTest->new;
my $secret = 'kept/secret+1';
my $file = $t->dir . '/keys';
SymLoader::write_file($file, "[default]\naws_access_key_id = AKID\n"
    . "aws_secret_access_key = $secret\n[half]\naws_access_key_id = AKID\n");
SymLoader::write_file("$file.bad", "[default]\n$secret\n");

sub conf {
    my ($arguments) = @_;
    return SymTest::bare_conf('server { listen %%ADDRESS%%; location /_s3/ { '
                              . "symbolicate_aws_sigv4 $arguments; } }");
}

my $static = "credentials=static access_key=AKID secret_key=$secret";
my %env = (AWS_ACCESS_KEY_ID => 'AKID', AWS_SECRET_ACCESS_KEY => $secret);

sub check {
    my ($arguments, %with) = @_;
    local @ENV{keys %with} = values %with;
    my ($code, $said) = $t->check(conf("region=eu-central-1 $arguments"));
    unlike($said, qr/\Q$secret/, 'no secret in the error');
    return ($code, $said);
}

for (["$static"], ["$static token=a/b+c=="], ['credentials=env', %env],
    ['credentials=env', %env, AWS_SESSION_TOKEN => 'x'],
    ["credentials=file file=$file"],
    ["credentials=file profile=default file=$file"],
    ['credentials=instance via=/imds/'],
    ['credentials=container via=/ecs/',
        AWS_CONTAINER_CREDENTIALS_RELATIVE_URI => '/v2/x'],
    ['credentials=container via=/ecs/',
        AWS_CONTAINER_CREDENTIALS_FULL_URI => 'http://169.254.170.23/v1/x',
        AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE => '/no/such/file/yet'])
{
    my ($code, $said) = check(@$_);
    is($code, 0, "taken: $_->[0]") or diag($said);
}

my $needs_keys = qr/needs "access_key=" and "secret_key="/;
my $kinds = qr/needs "credentials=" static, env, file, container or instance/;
my $via = qr{needs "via=/LOCATION/", an internal location .* slash at both};

my @bad = (
    ['', $kinds],
    ['credentials=none', $kinds],
    ["$static region=us-east-1", qr/"region=" .*is duplicate/],
    ["$static token=", qr/"token=" .*needs a value/],
    ["credentials=static access_key=AKID", $needs_keys],
    ["credentials=static secret_key=$secret", $needs_keys],
    ["$static $secret", qr/"" is unknown to .*: it takes region=, /],
    ["$static secretkey=$secret", qr/"secretkey=" is unknown to .*: /],
    ["credentials=env secret_key=$secret",
        qr/"secret_key=" does not go with "credentials=env"/],
    ["$static via=/x/", qr/"via=" does not go with "credentials=static"/],
    ["credentials=static access_key=A,B secret_key=$secret",
        qr/a key is too long, or holds what no key does/],
    ["credentials=static access_key=AKID \"secret_key=$secret x\"",
        qr/a key is too long, or holds what no key does/],
    ['credentials=env', qr/AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be /],
    ['credentials=file', qr/needs "file=PATH"/],
    ["credentials=file file=$file.none",
        qr/"\Q$file\E.none", profile "default": .*No such file/],
    ["credentials=file file=$file profile=other",
        qr/profile "other": .*no such profile/],
    ["credentials=file file=$file profile=half",
        qr/profile "half": .*no aws_secret_access_key/],
    ["credentials=file file=$file.bad", qr/credentials file, line 2/],
    ["credentials=file file=" . $t->dir, qr/not a regular file/],
    ['credentials=instance', $via],
    ['credentials=instance via=/imds', $via],
    ['credentials=container via=imds/', $via],
    ['credentials=container via=/ecs/',
        qr/AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or .* must be in the env/],
    ['credentials=container via=/ecs/',
        qr/AWS_CONTAINER_AUTHORIZATION_TOKEN must be visible ASCII/,
        AWS_CONTAINER_CREDENTIALS_RELATIVE_URI => '/x',
        AWS_CONTAINER_AUTHORIZATION_TOKEN => "a\r\nb"],
    ['credentials=container via=/ecs/', qr/must be in the environment/,
        AWS_CONTAINER_CREDENTIALS_FULL_URI => 'http://169.254.170.2'],
);

for (@bad) {
    my ($arguments, $sentence, %with) = @$_;
    my ($code, $said) = check($arguments, %with);
    is($code, 1, "refused: $arguments");
    like($said, $sentence, '... with a sentence');
}

my ($code, $said) = $t->check(conf($static));
is($code, 1, 'no region');
like($said, qr/needs "region=" with the bucket's region/, '... is told');
($code, $said) = $t->check(conf("$static region=eu/1"));
like($said, qr/needs "region=" with the bucket's region/, 'no region at all');
($code, $said) = $t->check(conf("$static region=x; symbolicate_aws_sigv4 a=b"));
like($said, qr/is duplicate/, 'twice in a location');

done_testing;
