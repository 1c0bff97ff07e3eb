#!/usr/bin/perl

# Who may upload: tokens are checked before the body is read, and neither file nor
# log has them.  A configuration with a wrong file of tokens, or without one, is
# refused.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha256_hex);
use SymLoader qw(sym_text write_file);
use SymUpload;

my $t = SymUpload->new(tokens => {
    ci    => { secret => 'ci-secret' },
    old   => { secret => 'old-secret', rest => 'expires=2020-01-31' },
    later => { secret => 'later-secret', rest => 'expires=2999-12-31' },
    other => { secret => 'other-secret', rest => 'sources=another,third' },
    these => { secret => 'these-secret', rest => 'sources=another,folder' },
    small => { secret => 'small-secret', rest => 'bytes=100' },
    try   => { secret => 'try-secret', rest => 'rights=try' },
    one   => { secret => 'one-secret', rest => 'at_once=1' },
})->start;
my $dir = $t->{dir};
my $id = SymFolder::id(1);
my $url = $t->url("/upload/a/$id/a.sym");
write_file("$dir/a.sym", sym_text('a', $id, prefix => 'first'));

sub put { return $t->curl(@_, '-T', "$dir/a.sym", $url) }
sub put_as { return put($t->bearer($_[0])) }

my $r = put();
is($r->{status}, 401, 'no token');
is_deeply($r->{json}, { error => 'a token is needed' }, '... says so');
is(put_as('wrong')->{status}, 401, 'an unknown token');
is(put_as('ci-secre')->{status}, 401, '... the beginning of one');
is(put('-u', 'ci:ci-secret')->{status}, 401, 'another scheme');
$r = put_as('old-secret');
is_deeply([$r->{status}, $r->{json}{error}], [401, 'the token has expired'], 'an expired one');
is(put_as('other-secret')->{status}, 403, 'one for other targets');
is(put_as('try-secret')->{status}, 403, 'one for try uploads');
is(put_as('small-secret')->{status}, 413, 'more bytes than it may send');
is(put($t->bearer('small-secret'), '-H', 'Transfer-Encoding: chunked')->{status}, 413,
    '... also without a length');
is_deeply([ $t->files ], [], 'nothing was stored');
is(put_as('later-secret')->{status}, 201, 'one that is valid');
is(put_as('these-secret')->{status}, 200, 'one for this target among others');

# The answer comes before the body: the rest of it is never sent.
my $s = $t->connect;
$t->send_all($s, "PUT /upload/a/$id/a.sym HTTP/1.1\r\nHost: a\r\n"
    . "Authorization: Bearer wrong\r\nContent-Length: 60000000\r\n\r\n");
$r = $t->response($s);
is($r->{status}, 401, 'a refusal does not wait for the body');
close $s;

# One upload at a time: the second comes while the first one's body does.
$s = $t->connect;
$t->send_all($s, "PUT /upload/a/$id/a.sym HTTP/1.1\r\nHost: a\r\n"
    . "Authorization: Bearer one-secret\r\nContent-Length: 10\r\n\r\nMODU");
$t->wait_for(sub { put_as('one-secret')->{status} == 429 }, 'the second one is refused');
$r = put_as('one-secret');
is($r->{status}, 429, 'too many at once');
like($r->{head}, qr/^Retry-After: 5\r$/m, '... says when to try again');
is(put_as('ci-secret')->{status}, 200, '... others may');
close $s;
$t->wait_for(sub { put_as('one-secret')->{status} == 200 }, 'after it has gone, it may again');
is(put_as('one-secret')->{status}, 200, 'after the first has gone');

# An upload that the loader still has counts, although its client has left.
kill STOP => $t->loader->pid;
$s = $t->connect;
my $text = sym_text('left', $id, prefix => 'left');
$t->send_all($s, "PUT /upload/left/$id/left.sym HTTP/1.1\r\nHost: a\r\n"
    . "Authorization: Bearer one-secret\r\nContent-Length: " . length($text) . "\r\n\r\n$text");
$t->wait_for(sub { put_as('one-secret')->{status} == 429 }, 'the upload has begun');
my $before = () = $t->access_log =~ /code=499/g;
close $s;
$t->wait_for(sub { (() = $t->access_log =~ /code=499/g) > $before }, 'nginx knows that the client has left');
is(put_as('one-secret')->{status}, 429, 'the upload of a client that left still counts');
kill CONT => $t->loader->pid;
$t->wait_for(sub { put_as('one-secret')->{status} == 200 }, 'after the loader has answered, it may again');
is(put_as('one-secret')->{status}, 200, '... not after it has ended');

# Requests to assemble files of chunks count like uploads.
sub assemble {
    return $t->request('POST', '/api/0/projects/o/p/files/difs/assemble/', @_,
        headers => [ Authorization => 'Bearer one-secret', 'Content-Type' => 'application/json' ],
        body => '{"' . 'ab' x 20 . '": {"name": "x", "chunks": ["' . 'cd' x 20 . '"]}}');
}
is(assemble()->{status}, 200, 'files are assembled');
is(assemble()->{status}, 200, '... and again');
$s = $t->connect;
$t->send_all($s, "PUT /upload/a/$id/a.sym HTTP/1.1\r\nHost: a\r\n"
    . "Authorization: Bearer one-secret\r\nContent-Length: 10\r\n\r\nMODU");
$t->wait_for(sub { put_as('one-secret')->{status} == 429 }, 'an upload has begun');
is(assemble()->{status}, 429, '... not beside an upload');
close $s;
$t->wait_for(sub { assemble()->{status} == 200 }, 'after it has gone, they are');

kill STOP => $t->loader->pid;
my $json = '{"' . 'ab' x 20 . '": {"name": "x", "chunks": ["' . 'cd' x 20 . '"]}}';
$s = $t->connect;
$t->send_all($s, "POST /api/0/projects/o/p/files/difs/assemble/ HTTP/1.1\r\nHost: a\r\n"
    . "Authorization: Bearer one-secret\r\nContent-Type: application/json\r\n"
    . 'Content-Length: ' . length($json) . "\r\n\r\n$json");
ok($t->wait_for(sub { assemble()->{status} == 429 }, 'the loader has it'), 'one at a time');
is(put_as('one-secret')->{status}, 429, '... and no upload beside it');
kill CONT => $t->loader->pid;
is($t->response($s)->{status}, 200, '... it is answered');
is(assemble()->{status}, 200, '... then another one may come');

my $said = $t->error_log . SymTest::slurp("$dir/tokens");
unlike($said, qr/-secret/, 'neither log nor file has a token');
is($t->end, '', 'nothing is wrong');

# --- configurations ---

sub refused {
    my ($text, $want, $name) = @_;
    my $c = SymUpload->new(tokens => { a => { secret => 'x' } });
    write_file("$c->{dir}/tokens", $text);
    my ($ok, $out) = $c->check;
    like($out, $want, $name);
    return;
}

my $hash = sha256_hex('x');
refused("\n\nabc ci\n", qr/tokens": .*64 digits.*line 3/s, 'a word that is not a hash');
refused("$hash\n", qr/no name.*line 1/s, 'no name');
refused("$hash ci rights=all\n", qr/rights=/, 'an unknown right');
refused("$hash ci expires=2027-02-30\n", qr/expires=/, 'a day that there is not');
refused("$hash ci at_once=0\n", qr/at_once=/, 'no uploads at once');
refused("$hash ci mozilla=3\n", qr/mozilla=/, 'an unknown version of uploads');

done_testing();
