# An s3 source has its own keys: each request is signed for its bucket, and the
# store's answers mean the same as in Symbolicator.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymGiven;
use SymS3;
use Test::More;

my $s3 = SymS3->new->start;
$s3->bucket('symbols');
$s3->bucket('open', public => 1);
$s3->key('AKIDGIVEN', 'given/secret');
$s3->key('ASIATOKEN', 'token/secret', token => 'given/token==');

my $t = SymGiven->new->start;
my $n = 0;
my %source = (id => 's3', type => 's3', bucket => 'symbols', prefix => '/v 1/',
    region => ['us-east-1', 'http://' . $s3->address], access_key => 'AKIDGIVEN',
    secret_key => 'given/secret', filters => { filetypes => ['breakpad'] });

sub put {
    my ($bucket, $prefix) = @_;
    my $name = 'a+' . ++$n . '.pdb';
    my $text = SymGiven::text_of($name, $n);
    $s3->put($bucket, $prefix . SymGiven::path_of($name, $n), \$text);
    return $name;
}

sub ask { return $t->symbolicate([{ %source, @_[1 .. $#_] }], [$_[0], $n]) }

is($t->function_of(ask(put('symbols', 'v 1/')), 0), 'f0', 'a private bucket');
is($t->function_of(ask(put('symbols', ''), prefix => ''), 0), 'f0',
    '... without a prefix');
is($t->function_of(ask(put('symbols', 'v 1/'), access_key => 'ASIATOKEN',
    secret_key => 'token/secret', session_token => 'given/token=='), 0), 'f0',
    '... with a session token');
is($t->function_of(ask(put('open', ''), bucket => 'open', prefix => '',
    access_key => '', secret_key => ''), 0), 'f0', 'a public bucket without keys');

my $name = put('symbols', 'elsewhere/');
is($t->status_of(ask($name), 0), 'missing', 'no such key');
is($t->status_of(ask($name, bucket => 'nosuchbucket'), 0), 'missing',
    'no such bucket');
is($t->status_of(ask(put('symbols', 'v 1/'), secret_key => 'wrong'), 0),
    'fetching_failed', 'a wrong key');
is($t->status_of(ask(put('symbols', 'v 1/'), access_key => '', secret_key => ''),
    0), 'fetching_failed', 'no keys');
is($t->status_of(ask(put('symbols', 'v 1/'),
    aws_credentials_provider => 'container'), 0), 'fetching_failed',
    "the server's own role is not for requests");

is($t->end, '', 'nothing else');
done_testing();
