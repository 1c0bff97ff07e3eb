#!/usr/bin/perl

# Two machines put files of one module into a bucket at the same time: the better
# one stays, whoever was first, and each client learns what became of its file.  An
# answer of the bucket that is lost, and a server that does not know S3's conditions
# of writes, are no failure.

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
my $t = SymUpload->new(tokens => { ci => { secret => 'secret' } }, s3 => $s3, part => '5m')->start;
my $n = 0;

sub next_id { return SymFolder::id(++$n) }

sub key { return "m/$_[0]/m.sym" }

sub object {
    my ($id) = @_;
    my $r = $s3->signed('symbols', key($id));
    return $r->{status} == 200 ? $r->{body} : undef;
}

# From worst to best.
sub publics { my ($id, $name) = @_; return "MODULE Linux x86_64 $id m\nPUBLIC 1000 0 $name\n" }
sub functions { my ($id, $name) = @_; return sym_text('m', $id, prefix => $name) }
sub inlines { my ($id, $name) = @_; return sym_text('m', $id, prefix => $name, inlines => 1) }

# Lines that mean nothing, of more than a part.
sub large {
    my ($head, $rest) = split /\n/, $_[0], 2;
    return "$head\n" . ('INFO ' . 'x' x 990 . "\n") x 6400 . $rest;
}

sub begin {
    my ($server, $text) = @_;
    my $s = $server->connect;
    $server->send_all($s, "POST /upload/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\n"
        . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
    return $s;
}

sub end {
    my ($server, $s) = @_;
    my $r = $server->response($s);
    close $s;
    my $json = eval { JSON::PP->new->decode($r->{body}) } // {};
    return [ $r->{status}, $json->{files}[0]{state} ];
}

sub post {
    my ($text, $server) = @_;
    return end($server // $t, begin($server // $t, $text));
}

sub answer { my ($id, $server) = @_; $server //= $t; return $server->function($server->ask([ 'm', $id ])) }

# Another machine puts its file when ours is on its way.
sub race {
    my ($name, $ours, $theirs, $id, $state, %fault) = @_;
    $s3->forget->fault(method => 'PUT', hold => 1, %fault);
    my $s = begin($t, $ours);
    my $method = $fault{method} // 'PUT';
    my $url = $fault{url} // '.';
    $t->wait_for(sub { grep { $_->{method} eq $method && $_->{url} =~ $url } $s3->log }, 'it is being put');
    $s3->put('symbols', key($id), \$theirs);
    $s3->release;
    is_deeply(end($t, $s), $state, $name);
    ok((grep { ($_->{status} // 0) == 412 } $s3->log), '... the condition was false');
    is_deeply([ $s3->uploads('symbols') ], [], '... no part is left');
    return;
}

my $id = next_id();
race('a better file came meanwhile', functions($id, 'ours'), inlines($id, 'theirs'), $id, [ 200, 'kept' ]);
ok(object($id) eq inlines($id, "theirs"), "... it stays");
like(answer($id), qr/^theirs/, '... and answers');

$id = next_id();
race('a poorer file came meanwhile', functions($id, 'ours'), publics($id, 'theirs'), $id, [ 201, 'stored' ]);
is(object($id), functions($id, 'ours'), '... ours replaces it');
like(answer($id), qr/^ours/, '... and answers');

$id = next_id();
my $ours = functions($id, 'ours');
race('the same file came meanwhile', $ours, $ours, $id, [ 201, 'stored' ]);
is(object($id), $ours, '... it is there');

$id = next_id();
$ours = large(functions($id, 'ours'));
race('a better file came before the parts were joined', $ours, inlines($id, 'theirs'), $id, [ 200, 'kept' ],
    method => 'POST', url => 'uploadId=');
ok(object($id) eq inlines($id, "theirs"), "... it stays");

$id = next_id();
$ours = large(functions($id, 'ours'));
race('a poorer file came before the parts were joined', $ours, publics($id, 'theirs'), $id, [ 201, 'stored' ],
    method => 'POST', url => 'uploadId=');
ok(object($id) eq $ours, '... ours replaces it');

# --- the object is not the one that the store knows ---

$id = next_id();
is_deeply(post(functions($id, 'first')), [ 201, 'stored' ], 'a file');
$s3->put('symbols', key($id), \inlines($id, 'theirs'));
is_deeply(post(functions($id, 'second')), [ 200, 'kept' ], 'another machine has put a better one since');
ok(object($id) eq inlines($id, "theirs"), "... it stays");
like(answer($id), qr/^theirs/, '... and answers');

$id = next_id();
is_deeply(post(functions($id, 'first')), [ 201, 'stored' ], 'a file');
$s3->put('symbols', key($id), \publics($id, 'theirs'));
is_deeply(post(functions($id, 'second')), [ 201, 'stored' ], 'another machine has put a poorer one since');
is(object($id), functions($id, 'second'), '... it is replaced');

# --- others never stop ---

$id = next_id();
$s3->fault(method => 'PUT', code => 'PreconditionFailed', times => -1);
is_deeply(post(functions($id, 'ours')), [ 503, 'failed' ], 'somebody is always faster: a failure');
$s3->no_faults;
is(answer($id), 'false', '... it is not there');
is_deeply(post(functions($id, 'ours')), [ 201, 'stored' ], '... until the next try');

# --- a server that does not know conditions ---

$s3->conditions(0);
$id = next_id();
is_deeply(post(functions($id, 'old')), [ 201, 'stored' ], 'a server without conditions: a file');
is_deeply(post(inlines($id, 'ours')), [ 201, 'stored' ], '... a better one');
is(object($id), inlines($id, 'ours'), '... is there');
$id = next_id();
$ours = large(functions($id, 'ours'));
is_deeply(post($ours), [ 201, 'stored' ], '... a file in parts');
ok(object($id) eq $ours, '... is there');
$s3->conditions(1);
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

# --- answers that are lost ---

my $short = SymUpload->new(tokens => { ci => { secret => 'secret' } }, s3 => $s3, part => '5m',
    timeout => '1s')->start;
for my $old ('', 'an object is there') {
    $id = next_id();
    $s3->put('symbols', key($id), \publics($id, 'theirs')) if $old;
    $s3->fault(method => 'PUT', url => "/$id/", lose => 1);
    is_deeply(post(functions($id, 'ours'), $short), [ 201, 'stored' ], "the answer of a PUT is lost; $old");
    is(object($id), functions($id, 'ours'), '... the file is there');

    $id = next_id();
    $s3->put('symbols', key($id), \publics($id, 'theirs')) if $old;
    $ours = large(functions($id, 'ours'));
    $s3->fault(method => 'POST', url => "/$id/.*uploadId=", lose => 1);
    is_deeply(post($ours, $short), [ 201, 'stored' ], "the answer to the joined parts is lost; $old");
    ok(object($id) eq $ours, '... the file is there');
    like(answer($id, $short), qr/^ours/, '... and answers');
    is_deeply([ $s3->uploads('symbols') ], [], '... no part is left');
}

# The upload in parts was aborted by somebody, and the former object is still there.
$id = next_id();
$s3->put('symbols', key($id), \publics($id, 'theirs'));
$s3->fault(method => 'POST', url => "/$id/.*uploadId=", code => 'NoSuchUpload');
$ours = large(functions($id, 'ours'));
is_deeply(post($ours, $short), [ 201, 'stored' ], 'an upload in parts that was aborted');
ok(object($id) eq $ours, '... is repeated');

# ... again and again
$id = next_id();
$s3->put('symbols', key($id), \publics($id, 'theirs'));
$s3->fault(method => 'POST', url => "/$id/.*uploadId=", code => 'NoSuchUpload', times => -1);
is_deeply(post(large(functions($id, 'ours')), $short), [ 503, 'failed' ], 'uploads in parts that are all aborted');
is(object($id), publics($id, 'theirs'), '... the former object is there');
$s3->no_faults;

# The answer to the joined parts is lost, and somebody else has put a file of the same length.
$id = next_id();
$ours = large(functions($id, 'ours__'));
$s3->forget->fault(method => 'PUT', url => "/$id/.*partNumber=2", hold => 1)
    ->fault(method => 'POST', url => "/$id/.*uploadId=", code => 'NoSuchUpload');
my $s = begin($short, $ours);
$short->wait_for(sub { grep { $_->{url} =~ /partNumber=2/ } $s3->log }, 'the last part is being put');
$s3->put('symbols', key($id), \large(functions($id, 'theirs')));
$s3->release;
is_deeply(end($short, $s), [ 201, 'stored' ], "an object of the same length that is another machine's");
ok(object($id) eq $ours, '... is not taken for ours');
is($short->loader->verify, 'sound', 'the store is sound');
is($short->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
