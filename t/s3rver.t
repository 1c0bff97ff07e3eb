#!/usr/bin/perl

# The S3 server of the tests is as strict as S3: a request that it accepts was
# signed correctly.  Only then do tests against it prove anything about
# signing.  The server compares with AWS's own signer; curl signs without our
# code; and requests signed by core/sources/aws are accepted as well.

use strict;
use warnings;

use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::Bin/lib";

use IO::Socket::INET;
use Test::More;

use SymLoader qw(read_file);
use SymS3;
use SymTest;

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('open', public => 1)
    ->bucket('silent', list => 0);

# --- curl signs ---

my $key = 'app.pdb/0123456789ABCDEF0123456789ABCDEF1/app.sym';
$s3->put('symbols', $key, \"MODULE one\n");
refused('symbols', $key, 200, undef, 'signed GET');
is($s3->signed('symbols', $key)->{body}, "MODULE one\n", 'the object');

refused('symbols', 'absent', 404, 'NoSuchKey', 'absent key');
refused('nowhere', 'absent', 404, 'NoSuchBucket', 'absent bucket');
refused('silent', 'absent', 403, 'AccessDenied',
    'absent key of a bucket that may not be listed');

refused('symbols', $key, 403, 'SignatureDoesNotMatch', 'wrong secret',
    '--user', $s3->access . ':' . $s3->secret . 'x');
refused('symbols', $key, 403, 'InvalidAccessKeyId', 'unknown access key',
    '--user', 'AKIDNOBODY:' . $s3->secret);
refused('symbols', $key, 403, 'InvalidAccessKeyId',
    'the built-in key of s3rver', '--user', 'S3RVER:S3RVER');
refused('symbols', $key, 400, 'AuthorizationHeaderMalformed', 'wrong region',
    '--aws-sigv4', 'aws:amz:eu-west-1:s3');
refused('symbols', $key, 403, 'SignatureDoesNotMatch', 'wrong service',
    '--aws-sigv4', 'aws:amz:us-east-1:ec2');

# --- no signature ---

my $r = $s3->curl($s3->url('symbols', $key));
is(code($r), '403 AccessDenied', 'unsigned GET of a private bucket');
is(code($s3->curl($s3->url('symbols'))), '403 AccessDenied',
    'unsigned listing');

$s3->put('open', $key, \"MODULE two\n");
$r = $s3->curl($s3->url('open', $key));
is($r->{status}, 200, 'unsigned GET of a public bucket');
is($r->{body}, "MODULE two\n", 'its object');
is(code($s3->curl('-X', 'DELETE', $s3->url('open', $key))),
    '403 AccessDenied', 'unsigned DELETE');
is(code($s3->curl($s3->url('open', $key) . '?X-Amz-Algorithm=x')),
    '501 NotImplemented', 'a signature in the query');
is(code($s3->curl($s3->url('open', '') . '%')), '400 InvalidURI',
    'no encoding');

# --- keys that must be encoded, replaced and deleted ---

for my $name ('a+b', 'a b', 'a~b', 'a{b}', 'a@b', 'a<b>', "a%2Bb", "\xc3\xa4",
    q{!'()*;:&=$,?#[]"\\^`|})
{
    $s3->put('symbols', "$name/ID/$name.sym", \"it is $name");
    $r = $s3->signed('symbols', "$name/ID/$name.sym");
    is("$r->{status} $r->{body}", "200 it is $name", "key with $name");
}
is($s3->signed('symbols', 'a b/ID/a b.sym')->{body}, 'it is a b',
    'a space is no plus');
$s3->put('open', 'a b', \'space')->put('open', 'a+b', \'plus');
is($s3->curl($s3->url('open') . '/a+b')->{body}, 'space',
    'a plus that is not encoded is a space, as in S3');

$s3->put('symbols', $key, \"MODULE other\n");
is($s3->signed('symbols', $key)->{body}, "MODULE other\n", 'replaced');
$s3->delete('symbols', $key);
refused('symbols', $key, 404, 'NoSuchKey', 'deleted');

my $big = tempdir(CLEANUP => 1) . '/big';
SymLoader::write_file($big, join '', map { pack 'N', $_ } 1 .. 1 << 21);
$s3->put('symbols', 'big', $big, 'Content-Encoding: gzip');
ok($s3->signed('symbols', 'big')->{body} eq read_file($big),
    '8 MB that were just put are complete');
like($s3->signed('symbols', 'big', '-I')->{body},
    qr/^Content-Encoding: gzip\r?$/mi, 'and their encoding');

# --- core/sources/aws signs ---

for my $name ($key, 'a+b~{c}@<d> e/%2B/f.sym') {
    $s3->put('symbols', $name, \'ours');
    is(code(ours("/symbols/$name")), '200 ours', "core/sources/aws signed $name");
}
is(code(ours('/symbols/absent')), '404 NoSuchKey', 'and an absent key');
is(code(ours("/symbols/$key", secret => 'wrong')),
    '403 SignatureDoesNotMatch', 'with a wrong secret');
is(code(ours("/symbols/$key", region => 'eu-central-1')),
    '400 AuthorizationHeaderMalformed', 'for a wrong region');
is(code(ours("/symbols/$key", ask => '/symbols/big')),
    '403 SignatureDoesNotMatch', 'for another object');
is(code(ours("/symbols/$key", args => ['-H', 'X-Amz-Meta-New: 1'])),
    '403 AccessDenied', 'with a header that was added later');

is(code(ours("/symbols/$key", time => time - 3600)),
    '403 RequestTimeTooSkewed', 'signed an hour ago');

my @temporary = (access => 'ASIATEMPORARY', secret => 'temporary');
$s3->key('ASIATEMPORARY', 'temporary', token => 'to/ken==');
is(code(ours("/symbols/$key", @temporary, token => 'to/ken==')), '200 ours',
    'temporary keys');
is(code(ours("/symbols/$key", @temporary)), '403 InvalidAccessKeyId',
    'without their token');
is(code(ours("/symbols/$key", @temporary, token => 'other')),
    '400 InvalidToken', 'with another token');
$s3->key('ASIATEMPORARY', 'temporary', token => 'to/ken==', expired => 1);
is(code(ours("/symbols/$key", @temporary, token => 'to/ken==')),
    '400 ExpiredToken', 'when they are expired');
$s3->revoke('ASIATEMPORARY');
is(code(ours("/symbols/$key", @temporary, token => 'to/ken==')),
    '403 InvalidAccessKeyId', 'when they are gone');

# --- the log; stop and start ---

$s3->forget;
$s3->signed('symbols', $key);
$s3->curl($s3->url('symbols', 'x'));
$s3->put('symbols', 'x', \'x');
is_deeply([map { "$_->{url} $_->{status} " . ($_->{signed} ? 1 : 0) } $s3->gets],
    ["/symbols/$key 200 1", '/symbols/x 403 0'], 'GETs are counted');

my $port = $s3->port;
$s3->stop;
is($s3->curl('-o', '/dev/null', $s3->url('symbols', $key))->{status}, '000',
    'refuses when stopped');
$s3->start;
is($s3->port, $port, 'the same port again');
refused('symbols', $key, 200, undef, 'the same objects and keys');
is(code($s3->curl($s3->url('symbols', $key))), '403 AccessDenied',
    'the same buckets');

# --- no test leaves a server behind ---

my $folder = tempdir(CLEANUP => 1);
pipe(my $from, my $to) or die "pipe: $!";
my $pid = fork // die "fork: $!";
if (!$pid) {
    my $other = SymS3->new(directory => $folder)->start;
    syswrite $to, $other->port . "\n";
    kill 'KILL', $$;
}
close $to;
chomp(my $left = <$from>);
waitpid $pid, 0;
is($? & 127, 9, 'a test that is killed');
ok(SymTest->wait_for(sub { !IO::Socket::INET->new("127.0.0.1:$left") },
    'a port that nobody serves'), 'stops its server, too');

done_testing();

# "404 NoSuchKey", or "200 " and the body.
sub code {
    my ($answer) = @_;
    my ($code) = $answer->{body} =~ m{<Code>(\w+)</Code>};
    return "$answer->{status} " . ($code // $answer->{body});
}

# A GET signed by curl.
sub refused {
    my ($bucket, $name, $status, $code, $what, @args) = @_;
    my $answer = $s3->signed($bucket, $name, @args);
    is($answer->{status}, $status, $what);
    is(code($answer), "$status $code", "$what: code") if defined $code;
    return;
}

# A GET signed by core/sources/aws.
sub ours {
    my ($path, %opt) = @_;
    my @sign = (
        SymTest::build_dir() . '/t/sign', 'GET', $s3->address, $path,
        $opt{region} // $s3->region, $opt{access} // $s3->access,
        $opt{secret} // $s3->secret, $opt{time} // time,
        defined $opt{token} ? $opt{token} : (),
    );
    open my $in, '-|', @sign or die "sign: $!";
    chomp(my ($asked, @headers) = <$in>);
    close $in or die "sign ended with $?";
    $asked = $opt{ask} if $opt{ask};
    return $s3->curl((map { ('-H', $_) } @headers), @{ $opt{args} || [] },
        'http://' . $s3->address . $asked);
}
