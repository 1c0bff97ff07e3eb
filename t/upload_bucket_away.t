#!/usr/bin/perl

# A bucket that is away, or fails, while a module that answers is uploaded again:
# the upload is a failure, and the module still answers.  The next upload compares
# with the file that is in the bucket, not with the one that did not get there.

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
my $t = SymUpload->new(tokens => { ci => { secret => 'secret' } }, s3 => $s3, timeout => '1s')->start;
my $dir = $t->{dir};
my $id = SymFolder::id(1);
my $key = "a/$id/a.sym";
my @module = ('a', $id);

# From worst to best.
my $publics = "MODULE Linux x86_64 $id a\nPUBLIC 1000 0 publics\n";
my $functions = sym_text(@module, prefix => 'functions');
my $lines = sym_text(@module, prefix => 'lines', lines => 1);
my $others = sym_text(@module, prefix => 'others', lines => 1);

sub post {
    my ($text) = @_;
    write_file("$dir/file.sym", $text);
    my $r = $t->curl($t->bearer('secret'), '--data-binary', "\@$dir/file.sym", $t->url('/upload/'));
    return [ $r->{status}, $r->{json}{files}[0]{state} ];
}

sub answer { return $t->function($t->ask([@module])) }

sub object {
    my $r = $s3->signed('symbols', $key);
    return $r->{status} == 200 ? $r->{body} : undef;
}

is_deeply(post($functions), [ 201, 'stored' ], 'a module');
like(answer(), qr/^functions/, '... answers');

# --- the bucket is away ---

$s3->stop;
for my $again ($functions, $publics, $lines) {
    my ($name) = $again =~ /(publics|functions|lines)/;
    is_deeply(post($again), [ 503, 'failed' ], "the bucket is away: $name");
    like(answer(), qr/^(functions|lines)/, '... the module answers');
}
$s3->start;
is(object(), $functions, 'the bucket has the first file');

# The better file has not got there, so this one is the best that the bucket has.
is_deeply(post($publics), [ 200, 'kept' ], 'the bucket is back: a poorer file stays out');
like(answer(), qr/^functions/, '... and the file in the bucket answers');
is(object(), $functions, '... which has stayed');
is_deeply(post($lines), [ 201, 'stored' ], 'the better file, again');
like(answer(), qr/^lines/, '... answers');
is(object(), $lines, '... and is in the bucket');

# --- the bucket fails in the middle ---

$s3->fault(method => 'PUT', code => 'AccessDenied');
is_deeply(post($others), [ 503, 'failed' ], 'a file that the bucket does not take');
like(answer(), qr/^(lines|others)/, '... the module answers');
is(object(), $lines, '... the bucket has the former file');
is_deeply(post($lines), [ 200, 'same' ], 'the former file is the same');
like(answer(), qr/^lines/, '... and answers again');

# The object went meanwhile: any file is better than none.
$s3->fault(method => 'PUT', code => 'AccessDenied');
is_deeply(post($others), [ 503, 'failed' ], 'another failure');
$s3->delete('symbols', $key);
is_deeply(post($publics), [ 201, 'stored' ], 'the object was removed: a poor file is stored');
is(object(), $publics, '... in the bucket');
is(answer(), 'publics', '... and answers');

# Another machine has replaced the object, which cannot be read then: the file that did
# not get there does not count in the next upload.
is_deeply(post($functions), [ 201, 'stored' ], 'a file');
$s3->put('symbols', $key, \$publics);
$s3->fault(method => 'GET', code => 'AccessDenied', times => -1);
is_deeply(post($lines), [ 503, 'failed' ], 'the object of another machine cannot be read');
$s3->no_faults;
is(object(), $publics, '... it stays');
like(answer(), qr/^(functions|lines)/, '... the module answers');
is_deeply(post($functions), [ 201, 'stored' ], 'a better file than that object');
is(object(), $functions, '... replaces it');
like(answer(), qr/^functions/, '... and answers');

# A module that was unknown before leaves no record.
my $new = SymFolder::id(2);
$s3->fault(method => 'PUT', code => 'AccessDenied');
is_deeply(post(sym_text('new', $new)), [ 503, 'failed' ], 'a new module that the bucket does not take');
is($t->function($t->ask([ 'new', $new ])), 'false', '... is not there');

my $raced = SymFolder::id(3);
$s3->forget->fault(method => 'PUT', hold => 1);
write_file("$dir/file.sym", sym_text('raced', $raced));
my $client = $t->connect;
$t->send_all($client, $t->request_text('PUT', "/upload/raced/$raced/raced.sym",
    headers => [ Authorization => 'Bearer secret' ], body => SymTest::slurp("$dir/file.sym")));
$t->wait_for(sub { grep { $_->{method} eq 'PUT' } $s3->log }, 'it is being put');
$s3->put('symbols', "raced/$raced/raced.sym", \"MODULE Linux x86_64 $raced raced\nPUBLIC 1000 0 theirs\n");
$s3->fault(method => 'GET', code => 'AccessDenied');
$s3->release;
is($t->response($client)->{status}, 503, 'another machine is faster, and its file cannot be read');
is($t->function($t->ask([ 'raced', $raced ])), 'theirs', '... its file answers');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
$s3->stop;
done_testing();
