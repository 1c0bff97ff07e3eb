#!/usr/bin/perl

# Version 2 of Mozilla's uploads with a bucket as target: files are in the bucket when
# they are acknowledged, and one that is there is skipped.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use FindBin;
use IO::Compress::Gzip qw(gzip);
use JSON::PP ();
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymS3;
use SymUpload;

my $s3 = SymS3->new->start;
$s3->bucket($_) for qw(symbols try);
my $t = SymUpload->new(s3 => $s3, layout => 'breakpad', tokens => { ci => { secret => 'abc' } })->start;
my $dir = $t->{dir};
my $id = SymFolder::id(1);
my $key = "app/$id/app.sym";
my $text = sym_text('app', $id, prefix => 'first');
gzip(\$text, \my $bytes);
my $n = length $bytes;

sub action {
    my $list = { files => [ { key => $key, size => length $text, md5_hash => md5_hex($text) } ] };
    my $r = $t->curl('-H', 'Auth-Token: abc', '--data-binary', JSON::PP->new->encode($list), $t->url('/upload/v2/'));
    is($r->{status}, 201, 'a list') or diag $r->{body};
    return $r->{json}{files}[0]{action};
}

sub put {
    my ($url, $part, $range) = @_;
    write_file("$dir/body", $part);
    return $t->curl('-X', 'PUT', '-H', "Content-Range: bytes $range", '--data-binary', "\@$dir/body", $url);
}

my $url = action()->{url};
is(put($url, substr($bytes, 0, 9), "0-8/$n")->{status}, 308, 'a range');
is(put($url, substr($bytes, 9), "9-${\($n - 1)}/$n")->{status}, 200, 'the rest');
is($s3->signed('symbols', $key)->{body}, $text, '... the file is in the bucket');
like($t->function($t->ask(['app', $id])), qr/^first/, '... and answers');
is(action()->{type}, 'skip', 'again: skipped');
is(put($url, '', "*/$n")->{status}, 200, '... and a query of its range says so');
$s3->delete('symbols', $key);
is(action()->{type}, 'upload', 'after it was removed from the bucket: not skipped');
is($t->end, '', 'nothing is wrong');
done_testing();
