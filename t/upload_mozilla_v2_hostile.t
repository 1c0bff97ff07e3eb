#!/usr/bin/perl

# Clients of Mozilla's upload v2 that lie: about sizes and MD5, with URLs that are
# another's or changed, with ranges that do not fit.  Nothing of these is stored, and a
# second, honest try works.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use FindBin;
use IO::Compress::Gzip qw(gzip);
use JSON::PP ();
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymUpload;

my %tokens = (
    ci => { secret => '0123456789abcdef' },
    other => { secret => '22222222' },
    small => { secret => '33333333', rest => 'bytes=200' },
    elsewhere => { secret => '44444444', rest => 'sources=another' },
    try => { secret => 'fedcba9876543210', rest => 'rights=try' },
    old => { secret => '00000000', rest => 'expires=2020-01-31' },
);
my $t = SymUpload->new(tokens => { %tokens })->start;
my $dir = $t->{dir};
my @id = map { SymFolder::id($_) } 0 .. 9;

sub post {
    my ($token, $body) = @_;
    write_file("$dir/body", $body);
    return $t->curl('-H', "Auth-Token: $tokens{$token}{secret}", '--data-binary', "\@$dir/body",
        $t->url('/upload/v2/'));
}

sub begin {
    my ($token, @specs) = @_;
    return post($token, JSON::PP->new->utf8->canonical->encode({ files => \@specs }));
}

sub put {
    my ($url, $bytes, @more) = @_;
    write_file("$dir/body", $bytes);
    return $t->curl('-X', 'PUT', '--data-binary', "\@$dir/body", @more, $url);
}

sub spec {
    my ($text, $key, %other) = @_;
    return { key => $key, size => length $text, md5_hash => md5_hex($text), %other };
}

sub url_of {
    my ($r) = @_;
    return $r->{json}{files}[0]{action}{url} // die "no URL: $r->{status} $r->{body}";
}

my $key = "app/$id[1]/app.sym";
my $text = sym_text('app', $id[1], prefix => 'honest');
gzip(\$text, \my $bytes);
my $n = length $bytes;

# --- lists ---

for my $body ('not JSON', '[]', 'null', '', '{"files": "wrong type"}', '{}',
    '{"files": [{"key": "a/1/c", "size": 1}]}', '{"files": [{"key": "a/1/c", "size": "1", "md5_hash": "x"}]}',
    '{"files": [7]}', '{"files": [{"key": 1, "size": 1, "md5_hash": "x"}]}')
{
    my $r = post('ci', $body);
    is_deeply([ $r->{status}, $r->{json} ], [ 400, { error => 'malformed JSON request body' } ],
        "malformed: $body");
}
is(begin('ci', (spec($text, $key)) x 1024)->{status}, 201, '1024 files');
my $r = begin('ci', (spec($text, $key)) x 1025);
is_deeply([ $r->{status}, $r->{json} ], [ 400, { error => 'too many files' } ], 'one more');
is_deeply(begin('ci')->{json}{files}, [], 'no file');

# Tecken's own cases, and those of names that lead out of a folder
my @keys = ("x\x{fc}l.pdb/1A2B3C4/xul.sym", 'x%l.pdb/1A2B3C4/xul.sym', 'xul.pdb/1A2B3C/xul#.ex_',
    'xul.so/1A2B3G4E/xul.sym', "crypt3\x10.pdb/1A2B3C/crypt3\x10.pd_", '../12/a.sym', 'a/12/..', 'a/12',
    '/a/12/b', 'a/12/b/c', 'a/12/', '', 'qcom/proprietary/a.sym', 'a-symbols.txt', 'a' x 1000 . '/12/a.sym');
my @md5 = ('D41D8CD98F00B204E9800998ECF8427E', 'd41d8cd98f00b204e9800998ecf8427',
    'd41d8cd98f00b204e9800998ecf8427e1', '');
$r = begin('ci', (map { spec($text, $_) } @keys), map { spec($text, $key, md5_hash => $_) } @md5);
is_deeply([ map { $_->{action} } @{ $r->{json}{files} } ],
    [ (map { { type => 'error', msg => 'invalid key' } } @keys),
      map { { type => 'error', msg => 'invalid MD5 hex digest' } } @md5 ], 'files with errors');
is_deeply([ map { $_->{key} } @{ $r->{json}{files} } ], [ @keys, ($key) x @md5 ], '... are named as sent');

# --- who ---

for my $case ([ 'old', 'API Token found but expired' ], [ 'elsewhere', 'Forbidden' ]) {
    my ($token, $error) = @$case;
    $r = begin($token, spec($text, $key));
    is_deeply([ $r->{status}, $r->{json} ], [ 403, { error => $error } ], $error);
}
$r = $t->curl('-X', 'POST', $t->url('/upload/v2/'));
is_deeply([ $r->{status}, $r->{json} ], [ 403, { error => 'This requires an Auth-Token to authenticate the request' } ],
    'without a token');
for my $method (qw(GET PUT)) {
    $r = $t->curl('-X', $method, '-H', 'Auth-Token: 22222222', $t->url('/upload/v2/'));
    is_deeply([ $r->{status}, $r->{json} ], [ 405, { error => "Method Not Allowed ($method): /upload/v2/" } ], $method);
}

# --- URLs ---

my $url = url_of(begin('ci', spec($text, $key)));
my %changed = (
    'another size' => $url =~ s/size=\d+/size=1/r,
    'another MD5' => $url =~ s/md5=./md5=f/r,
    'another user' => $url =~ s/user=\d+/user=1/r,
    'a later end' => $url =~ s/expires=./expires=9/r,
    'another key' => $url =~ s{/app/}{/abc/}r,
    'another signature' => $url =~ s/(.)$/$1 eq 'a' ? 'b' : 'a'/er,
    'a shorter signature' => substr($url, 0, -1),
    'an empty one' => $url =~ s/(signature=).*/$1/r,
    'another parameter first' => $url =~ s/\?/?size=1&/r,
);
for my $what (sort keys %changed) {
    $r = put($changed{$what}, $bytes);
    is_deeply([ $r->{status}, $r->{json} ], [ 404, { error => 'there is no such upload' } ], "a URL with $what");
}
isnt($t->curl('-X', 'POST', '--data-binary', 'x', $url)->{status}, 200, 'POST');
is($t->curl('-X', 'POST', '--data-binary', 'x', $url)->{head} =~ /^Allow: (.*)\r$/m ? $1 : '', 'PUT', '... says what is allowed');
is($t->curl('-X', 'DELETE', $url)->{status}, 405, 'DELETE');

# --- files that are not what the client said ---

for my $case ([ 'another size', spec($text, $key, size => 1), $bytes, 'the file has another size' ],
    [ 'another MD5', spec($text, $key, md5_hash => md5_hex('x')), $bytes, 'the file has another MD5' ],
    [ 'no bytes', spec($text, $key), '', 'Content-Range is malformed, or not that of the body' ],
    [ 'a huge size', spec($text, $key, size => 1 << 62), $bytes, 'the file has another size' ],
    [ 'a negative size', spec($text, $key, size => -1), $bytes, 'the file has another size' ])
{
    my ($what, $spec, $sent, $error) = @$case;
    $r = put(url_of(begin('ci', $spec)), $sent);
    is_deeply([ $r->{status}, $r->{json} ], [ 400, { error => $error } ], $what);
}
my $junk = 'no symbols';
$r = put(url_of(begin('ci', spec($junk, $key))), $junk);
is_deeply([ $r->{status}, $r->{json}{files}[0]{state} ], [ 400, 'refused' ], 'a file without symbols');
is(begin('ci', spec($junk, $key))->{json}{files}[0]{action}{type}, 'upload', '... is not skipped later');

# --- ranges ---

for my $range ('bytes', 'bytes ', 'bytes 0-', 'bytes 0-4', 'bytes 4-0/10', 'bytes 0-10/10', 'bytes -4/10', 'bits 0-4/10',
    'bytes 0-4/10x', 'bytes 0-4/*x', "bytes 0-3/$n", "bytes 0-5/$n", 'bytes 0-18446744073709551615/*',
    'bytes 18446744073709551616-18446744073709551617/*', 'bytes 9223372036854775800-9223372036854775804/*')
{
    $r = put($url, 'xxxxx', '-H', "Content-Range: $range");
    is_deeply([ $r->{status}, $r->{json} ],
        [ 400, { error => 'Content-Range is malformed, or not that of the body' } ], "Content-Range: $range");
}
is_deeply([ grep { !m{^\.parts/} } $t->files ], [], 'nothing was stored');

is(put($url, 'x' x $n, '-H', "Content-Range: bytes 0-${\($n - 1)}/*")->{status}, 308, 'other bytes');
$r = put($url, '', '-H', "Content-Range: bytes */${\($n - 5)}");
is_deeply([ $r->{status}, $r->{json} ], [ 400, { error => 'the file is shorter than its ranges' } ],
    '... more than the length that comes later');
is(put($url, 'x' x $n, '-H', "Content-Range: bytes 0-${\($n - 1)}/*")->{status}, 308, 'other bytes again');
$r = put($url, '', '-H', "Content-Range: bytes */$n");
is_deeply([ $r->{status}, $r->{json} ], [ 400, { error => 'the file has another size' } ], '... are refused at the end');
$r = put($url, '', '-H', 'Content-Range: bytes */*');
is_deeply([ $r->{status}, scalar($r->{head} =~ /^Range:/m) ], [ 308, '' ], '... and gone');

# a token's limit counts for the file, not for its ranges
my $small = url_of(begin('small', spec($text, $key)));
is(put($small, 'x' x 150, '-H', 'Content-Range: bytes 0-149/*')->{status}, 308, 'a token that may send 200 bytes: 150');
is(put($small, 'x' x 51, '-H', 'Content-Range: bytes 150-200/*')->{status}, 413, '... and no 51 more');

# --- bombs ---

my $zeros = "\0" x (300 << 20);
gzip(\$zeros, \my $bomb, -Level => 9);
$r = put(url_of(begin('ci', spec($text, $key))), $bomb);
is($r->{status}, 400, 'a bomb of 300 MiB');
undef $zeros;

# --- two at once, of two clients ---

my $second = url_of(begin('other', spec($text, $key)));
isnt($second, $url, 'another client has a URL of its own for the same file');
is(put($second, $bytes)->{status}, 200, '... and may send it');
like($t->function($t->ask(['app', $id[1]])), qr/^honest/, '... it answers');
is(put($url, $bytes)->{json}{files}[0]{state}, 'same', '... the first client may, too');

# --- a token that is withdrawn takes its URLs along ---

my $late = sym_text('late', $id[2], prefix => 'late');
my $of_other = url_of(begin('other', spec($late, "late/$id[2]/late.sym")));
delete $t->{tokens}{other};
$t->write_tokens;
$t->reload;
is(put($of_other, $late)->{status}, 404, 'the URL of a withdrawn token');
my $own = url_of(begin('ci', spec($late, "late/$id[2]/late.sym")));
$t->reload;
is(put($own, $late)->{status}, 200, 'a URL survives a reload');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
