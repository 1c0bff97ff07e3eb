#!/usr/bin/perl

# Uploads to an S3 bucket: what is answered as stored is in the bucket, signed,
# with the same bytes, and answers requests.  A bucket that refuses, stalls or
# loses a file is a failure that the client sees; nothing half is left in it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymS3;
use SymLoader qw(sym_text write_file);
use SymUpload;

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
my $t = SymUpload->new(tokens => { ci => { secret => 'secret' } }, s3 => $s3, part => '5m', timeout => '1s')->start;
my $dir = $t->{dir};
my @token = $t->bearer('secret');
my $n = 0;

sub next_id { return SymFolder::id(++$n) }

sub file {
    my ($text) = @_;
    write_file("$dir/file.sym", $text);
    return "$dir/file.sym";
}

sub post {
    my ($text, @more) = @_;
    return $t->curl(@token, @more, '--data-binary', '@' . file($text), $t->url('/upload/'));
}

# The text of a module with lines that mean nothing, of that many MiB.
sub large {
    my ($mib, @module) = @_;
    my ($head, $rest) = split /\n/, sym_text(@module), 2;
    return "$head\n" . ('INFO ' . 'x' x 990 . "\n") x ($mib * 1054) . $rest;
}

sub row { return $_[0]{json}{files}[0] // {} }

# The object at a key; undef: there is none.
sub object {
    my ($key, $bucket) = @_;
    my $r = $s3->signed($bucket // 'symbols', $key);
    return $r->{status} == 200 ? $r->{body} : undef;
}

sub requests { return map {"$_->{method} $_->{status}"} $s3->log }

# --- a file ---

my $id = next_id();
my $key = "a/$id/a.sym";
my $text = sym_text('a', $id, prefix => 'first');
is($t->function($t->ask(['a', $id])), 'false', 'nobody has it yet');
$s3->forget;
my $r = post($text);
is_deeply([$r->{status}, row($r)->{state}, row($r)->{path}], [201, 'stored', $key],
    'a file is stored') or diag $r->{body};
is_deeply(row($r)->{modules}, [{ name => 'a', debug_id => $id, kinds => ['symcache'] }],
    '... with its ids');
is((grep { $_->{method} eq 'PUT' } $s3->log)[0]{signed}, JSON::PP::true(), '... by a signed PUT');
is((grep { $_->{status} == 403 } $s3->log), 0, '... all signatures are right');
is(object($key), $text, '... the bucket has its bytes');
like($t->function($t->ask(['a', $id])), qr/^first/, '... and requests its symbols');
is_deeply([ $t->files ], [], '... the folder of the loader has no copy');

$s3->forget;
$r = post($text);
is_deeply([$r->{status}, row($r)->{state}], [200, 'same'], 'the same again');
is((grep {/^PUT/} requests()), 0, '... is not sent again');

$r = post(sym_text('a', $id, prefix => 'newer'));
is_deeply([$r->{status}, row($r)->{state}], [201, 'stored'], 'an equally good file replaces it');
like(object($key), qr/newer/, '... in the bucket');
like($t->function($t->ask(['a', $id])), qr/^newer/, '... and in answers');

# the bucket is a source as any other
$t->forget('a', $id);
like($t->function($t->ask(['a', $id])), qr/^newer/, 'a module that is forgotten is fetched');

# --- a poorer file ---

my $poor = "MODULE Linux x86_64 $id a\nPUBLIC 1000 0 poor\n";
for my $known ('the store knows the better one', 'the store has forgotten it') {
    $r = post($poor);
    is_deeply([$r->{status}, row($r)->{state}], [200, 'kept'], "a poorer file: $known")
        or diag $r->{body};
    like(object($key), qr/newer/, '... the better one stays');
    like($t->function($t->ask(['a', $id])), qr/^newer/, '... and answers');
    $t->forget('a', $id);
}

# somebody else has put an object that is no symbol file
$id = next_id();
$s3->put('symbols', "x/$id/x.sym", \'something else');
$r = post(sym_text('x', $id, prefix => 'real'));
is_deeply([$r->{status}, row($r)->{state}], [201, 'stored'], 'a file replaces one that is unreadable');
like(object("x/$id/x.sym"), qr/^MODULE/, '... in the bucket');

# --- names that S3 reads in another way; other protocols ---

$id = next_id();
$text = sym_text('libstdc++ x.so', $id, prefix => 'plus');
is(post($text)->{status}, 201, 'a name with plus and space');
is(object("libstdc++ x.so/$id/libstdc++ x.so.sym"), $text, '... has the right key');

$id = next_id();
mkdir "$dir/in";
write_file("$dir/in/z.sym", sym_text('z', $id, prefix => 'zip'));
is(system("cd $dir/in && gzip -9 -k z.sym && mkdir -p z/$id && cp z.sym z/$id/ && rm z.sym "
    . "&& zip -qr ../set.zip z"), 0, 'zip');
$r = $t->curl('-H', 'Auth-Token: secret', '-F', "set.zip=\@$dir/set.zip", $t->url('/upload/'));
is($r->{status}, 201, "Mozilla's zip") or diag $r->{body};
like(object("z/$id/z.sym"), qr/^MODULE/, '... each file of it is an object');
$r = $t->curl(@token, '--data-binary', "\@$dir/in/z.sym.gz", $t->url('/upload/'));
is_deeply([$r->{status}, row($r)->{state}], [200, 'same'], 'a file that was packed is the same');

$id = next_id();
write_file("$dir/in/t.sym", sym_text('t', $id, prefix => 'tried'));
is(system("cd $dir/in && rm -r z && mkdir -p t/$id && mv t.sym t/$id/ && zip -qr ../try.zip t"), 0, 'zip');
$r = $t->curl('-H', 'Auth-Token: secret', '-F', "try.zip=\@$dir/try.zip", '-F', 'try=1', $t->url('/upload/'));
is($r->{status}, 201, 'a try upload') or diag $r->{body};
like(object("t/$id/t.sym", 'try'), qr/^MODULE/, '... goes to its own bucket');
is(object("t/$id/t.sym"), undef, '... and not to the other');

# --- large files ---

$id = next_id();
$text = large(11, 'large', $id, prefix => 'large');
$s3->forget;
$r = post($text);
is_deeply([$r->{status}, row($r)->{state}], [201, 'stored'], 'a file of three parts') or diag $r->{body};
ok((object("large/$id/large.sym") // '') eq $text, '... the bucket has its bytes');
is((grep {/^PUT 200/} requests()), 3, '... in three requests');
is_deeply([ $s3->uploads('symbols') ], [], '... nothing is unfinished');
like($t->function($t->ask(['large', $id])), qr/^large/, '... and it answers');
$s3->forget;
is(row(post($text))->{state}, 'same', 'again: the same');
is((grep {/^PUT/} requests()), 0, '... is not sent again');

# --- failures ---

# The file does not get into the bucket; then the fault is over, and the client
# tries again.
sub fails {
    my ($name, $want, $size, @faults) = @_;
    my $module = next_id();
    my $bytes = large($size, 'f', $module, prefix => 'fault');
    $s3->fault(%$_) for @faults;
    $r = post($bytes);
    is_deeply([$r->{status}, row($r)->{state}], [503, 'failed'], "$name: 503") or diag $r->{body};
    like(row($r)->{reason}, $want, '... says why');
    $s3->no_faults;
    ok(!defined object("f/$module/f.sym"), '... nothing is in the bucket');
    is_deeply([ $s3->uploads('symbols') ], [], '... and no part');
    is($t->function($t->ask(['f', $module])), 'false', '... nor is it in answers');
    is(post($bytes)->{status}, 201, '... a second try stores it');
    ok((object("f/$module/f.sym") // '') eq $bytes, '... in the bucket');
    return;
}

my @always = (times => -1);

# The ETags of parts that the bucket encrypts are no MD5.
{
    my $module = next_id();
    my $bytes = large(6, 'kms', $module, prefix => 'kms');
    $s3->fault(method => 'PUT', headers => { 'x-amz-server-side-encryption' => 'aws:kms' }, @always);
    is(row(post($bytes))->{state}, 'stored', 'a file in encrypted parts') or diag $r->{body};
    $s3->no_faults;
    ok((object("kms/$module/kms.sym") // '') eq $bytes, '... is whole');
}
fails('forbidden', qr/403 AccessDenied/, 0, { method => 'PUT', code => 'AccessDenied' });
fails('the keys may not look', qr/403/, 0, { method => 'HEAD', code => 'AccessDenied' });
fails('the bucket is gone', qr/404 NoSuchBucket/, 0, { method => 'PUT', code => 'NoSuchBucket' });
fails('overloaded for long', qr/503 SlowDown/, 0, { method => 'PUT', code => 'SlowDown', @always });
fails('it does not answer', qr/does not answer/, 0, { method => 'PUT', stall => 1, @always });
fails('other bytes', qr/other bytes/, 0,
    { method => 'PUT', headers => { ETag => '"' . '0' x 32 . '"' } });
fails('a part is refused', qr/403 AccessDenied/, 6,
    { method => 'PUT', url => 'partNumber=2', code => 'AccessDenied' });
fails('a part has other bytes', qr/another part/, 6,
    { method => 'PUT', url => 'partNumber=1', headers => { ETag => '"' . '0' x 32 . '"' } });
fails('no upload in parts', qr/403 AccessDenied/, 6, { method => 'POST', code => 'AccessDenied' });
fails('the parts are not joined', qr/400 InvalidPart/, 6,
    { method => 'POST', url => 'uploadId=', code => 'InvalidPart' });

$id = next_id();
$s3->fault(method => 'PUT', code => 'SlowDown', times => 2);
is(post(sym_text('s', $id))->{status}, 201, 'overloaded for a moment: it is sent again');

$s3->stop;
$id = next_id();
$r = post(sym_text('gone', $id));
is_deeply([$r->{status}, row($r)->{state}], [503, 'failed'], 'no connection');
$s3->start;

unlike($t->error_log . $t->loader->{said}, qr/\Q${\$s3->secret}\E/, 'no secret in the logs');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
