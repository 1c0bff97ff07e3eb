# Modules from private buckets: nginx signs its requests, from the first request
# for symbols to the answer.  If it cannot sign, the fetch has failed; the
# module is not absent.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use SymLoader qw(sym_text);
use SymS3;
use Test::More;

my $s3 = SymS3->new->start;
my $s3_address = $s3->address;
$s3->bucket('symbols');
$s3->bucket('second');
$s3->bucket('silent', list => 0);
$s3->key('AKIDSECOND', 'second/secret');
$s3->key('ASIAFAULTSERVER', 'fault/secret', token => 'fault/token==');

sub location {
    my ($name, $bucket, $keys) = @_;
    return <<"CONF";
        location /$name/ {
            internal;
            symbolicate_aws_sigv4 region=us-east-1 $keys;
            proxy_set_header Authorization \$symbolicate_aws_authorization;
            proxy_set_header X-Amz-Date    \$symbolicate_aws_date;
            proxy_set_header X-Amz-Content-Sha256
                                           \$symbolicate_aws_content_sha256;
            proxy_set_header X-Amz-Security-Token
                                           \$symbolicate_aws_security_token;
            proxy_pass http://$s3_address/$bucket/;
        }
CONF
}

sub dialect {
    my ($name, @sources) = @_;
    return "        location /$name/ { symbolicate; "
        . "symbolicate_loader unix:%%LOADER%%; "
        . "symbolicate_negative_ttl failed=1s; "
        . join('', map {"symbolicate_source $_ uri=/$_/; "} @sources) . "}\n";
}

my $first = 'credentials=static access_key=' . $s3->access
    . ' secret_key=' . $s3->secret;
my $second
    = 'credentials=static access_key=AKIDSECOND secret_key=second/secret';
my $instance = 'credentials=instance via=/imds/';

my $t = SymFetch->new(sources => join('',
    location('one', 'symbols/v1', $first), location('two', 'second', $second),
    location('silent', 'silent', $first),
    location('wrong', 'symbols', "${first}x"),
    location('role', 'symbols/v1', $instance),
    '        location /imds/ { internal; proxy_pass http://%%FAULT%%/; }',
    dialect('both', 'one', 'two'), dialect('hidden', 'silent'),
    dialect('bad', 'wrong'), dialect('by-role', 'role')))->start;

sub put {
    my ($bucket, $prefix, $name, $id, $function) = @_;
    $s3->put($bucket, $prefix . SymFetch::path($name, $id),
        \sym_text($name, $id, prefix => $function));
}

sub ask {
    my ($dialect, @modules) = @_;
    return $t->post("/$dialect/v5", $t->question(@modules));
}

# --- names, and sources with keys of their own ---

my $n = 1;
for my $name ('plain.so', 'libstdc++.so.6', 'my app', 'a~b', '{x}', 'me@home',
    '<name omitted>', 'win+32.pdb')
{
    my $id = SymFetch::id($n++);
    put('symbols', 'v1/', $name, $id, 'signed_');
    is($t->function(ask('both', [$name, $id]), 0), 'signed_0',
        "a private object: $name");
}

my @later = ('later.so', SymFetch::id($n++));
put('second', '', @later, 'second_');
is($t->function(ask('both', [@later]), 0), 'second_0',
    'the second source is signed with keys of its own');
is((grep { !$_->{signed} } $s3->gets), 0, 'all of it was signed');

# --- absent, failed ---

my @none = ('none.so', SymFetch::id($n++));
my $r = ask('both', [@none]);
is($r->{status}, 200, 'an absent key');
is($t->found($r, @none), 0, '... is absent');
@none = ('none.so', SymFetch::id($n++));
$r = ask('hidden', [@none]);
is($r->{status}, 200, "S3's 403 for an absent key");
is($t->found($r, @none), 0, '... is absent');

my @refused = ('refused.so', SymFetch::id($n++));
$r = ask('bad', [@refused]);
is($r->{status}, 503, "S3's 403 for a wrong signature is a failure");
is_deeply($t->reasons($r), { join('/', @refused)
    => 'source "wrong": it answered with an error: 403' }, '... with its reason');

# --- keys that are to come ---

my @mine = ('mine.so', SymFetch::id($n++));
put('symbols', 'v1/', @mine, 'mine_');
$s3->forget;
$t->fault->credentials(status => { token => 500 });
$r = ask('by-role', [@mine]);
is($r->{status}, 503, 'without keys: a failure');
is_deeply($t->reasons($r), { join('/', @mine) => 'source "role": no AWS '
    . 'credentials: instance metadata gave no token' }, '... with its reason');
is($s3->gets, 0, 'no request was sent without a signature');

$t->fault->credentials(status => {});
$t->wait_for(sub { ask('by-role', [@mine])->{status} == 200 },
    'it recovers by itself');
is($t->function(ask('by-role', [@mine]), 0), 'mine_0', 'the keys of a role');

unlike($t->error_log . $t->loader_log,
    qr{second/secret|fault/secret|fault/token|\Q${\$s3->secret}\E},
    'no secret in the logs');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
$s3->stop;

done_testing();
