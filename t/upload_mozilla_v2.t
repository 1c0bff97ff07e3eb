#!/usr/bin/perl

# Version 2 of Mozilla's uploads: the client lists its files with size and MD5, and gets
# a URL for each one that the server does not have.  It sends them there without a
# token, at once or in ranges, by the protocol of resumable uploads of Google Cloud
# Storage.

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

my $t = SymUpload->new(layout => 'unified', tokens => {
    ci => { secret => '0123456789abcdef' },
    try => { secret => 'fedcba9876543210', rest => 'rights=try' },
})->start;
my $dir = $t->{dir};
my @ci = ('-H', 'Auth-Token: 0123456789abcdef-ci label');
my @id = map { SymFolder::id($_) } 0 .. 9;

sub file {
    my ($name, $id, $prefix) = @_;
    my $text = sym_text($name, $id, prefix => $prefix);
    gzip(\$text, \my $gzip);
    return { text => $text, gzip => $gzip, key => "$name/$id/$name.sym" };
}

my ($one, $two) = (file('one', $id[1], 'first'), file('two', $id[2], 'second'));

sub spec {
    my ($f, %other) = @_;
    return { key => $f->{key}, size => length $f->{text}, md5_hash => md5_hex($f->{text}), %other };
}

sub begin {
    my ($token, @specs) = @_;
    return $t->curl(@$token, '-H', 'Content-Type: application/json', '--data-binary',
        JSON::PP->new->utf8->canonical->encode({ files => \@specs }), $t->url('/upload/v2/'));
}

# Sends bytes, or asks, with the header Content-Range.
sub put {
    my ($url, $bytes, $range) = @_;
    write_file("$dir/body", $bytes);
    return $t->curl('-X', 'PUT', (defined $range ? ('-H', "Content-Range: bytes $range") : ()),
        '--data-binary', "\@$dir/body", $url);
}

sub kill_loader {
    kill KILL => $t->loader->pid;
    $t->loader->wait_end;
    $t->loader_start;
    $t->wait_for(sub { begin(\@ci, spec($one))->{status} == 201 }, 'the worker has connected again');
    return;
}

sub range { return $_[0]{head} =~ /^Range: (\S+)\r$/m ? $1 : undef }

# --- all at once ---

my $r = begin(\@ci, spec($one), spec($two));
is($r->{status}, 201, 'two files') or diag $r->{body};
my $answer = $r->{json};
like($r->{body}, qr/^\{"id":\d+,"created_at":\d+,"user":"ci","try_symbols":false,"upload_protocol":"gcs-resumable","files":\[\{"key":/,
    '... as Tecken says it');
cmp_ok(abs($answer->{created_at} - time), '<', 100, '... now');
my @url = map { $_->{action}{url} } @{ $answer->{files} };
is_deeply($answer->{files}, [ map { { key => $_->[0]{key}, action => { type => 'upload',
    url => $_->[1], content_encoding => 'gzip' } } } [ $one, $url[0] ], [ $two, $url[1] ] ], '... to be sent');
like($url[0], qr{^\Q@{[ $t->url('/upload/v2/') ]}\E}, '... to this server');
is_deeply([ $t->files ], [], '... nothing is there yet');

$r = put($url[0], $one->{gzip});
is($r->{status}, 200, 'a compressed file') or diag $r->{body};
is($r->{json}{files}[0]{state}, 'stored', '... is stored');
like($t->function($t->ask(['one', $id[1]])), qr/^first/, '... and answers');
is(put($url[1], $two->{text})->{status}, 200, 'a plain one');
like($t->function($t->ask(['two', $id[2]])), qr/^second/, '... answers');
is(put($url[0], $one->{gzip})->{json}{files}[0]{state}, 'same', 'the first one again');

is_deeply([ map { $_->{action} } @{ begin(\@ci, spec($one), spec($two))->{json}{files} } ],
    [ ({ type => 'skip' }) x 2 ], 'both again: they are skipped');
kill_loader();
is(begin(\@ci, spec($one))->{json}{files}[0]{action}{type}, 'skip', '... also after the loader was killed');
is(begin(\@ci, spec($one, size => 1))->{json}{files}[0]{action}{type}, 'upload', '... not with another size');

# --- in ranges ---

my $three = file('three', $id[3], 'third');
my ($bytes, $n) = ($three->{gzip}, length $three->{gzip});
my $half = int($n / 2);
my $url = begin(\@ci, spec($three))->{json}{files}[0]{action}{url};
$r = put($url, '', "*/$n");
is_deeply([ $r->{status}, range($r) ], [ 308, undef ], 'nothing is there');
$r = put($url, substr($bytes, 0, $half), "0-${\($half - 1)}/$n");
is_deeply([ $r->{status}, range($r) ], [ 308, "bytes=0-${\($half - 1)}" ], 'the first half');
kill_loader();
$r = put($url, '', "*/$n");
is_deeply([ $r->{status}, range($r) ], [ 308, "bytes=0-${\($half - 1)}" ], '... is there after the loader was killed');
$r = put($url, '', '*/*');
is_deeply([ $r->{status}, range($r) ], [ 308, "bytes=0-${\($half - 1)}" ], '... also for one who does not know the length');
is($t->function($t->ask(['three', $id[3]])), 'false', '... and does not answer yet');
$r = put($url, substr($bytes, $half + 1), "${\($half + 1)}-${\($n - 1)}/$n");
is_deeply([ $r->{status}, range($r) ], [ 308, "bytes=0-${\($half - 1)}" ], 'a range with a gap before it is not taken');
$r = put($url, substr($bytes, $half, 3), "$half-${\($half + 2)}/*");
is_deeply([ $r->{status}, range($r) ], [ 308, "bytes=0-${\($half + 2)}" ], 'three bytes of a file of unknown length');
$r = put($url, substr($bytes, $half), "$half-${\($n - 1)}/$n");
is($r->{status}, 200, 'the rest, of which some bytes are there') or diag $r->{body};
like($t->function($t->ask(['three', $id[3]])), qr/^third/, '... the file answers');
is(put($url, '', "*/$n")->{status}, 200, '... and a query of its range says so');
is_deeply([ grep {m{^\.parts/}} $t->files ], [], '... its ranges are gone');

# --- all bytes are there, and the loader was killed before it has read them ---

my $four = file('four', $id[4], 'fourth');
($bytes, $n) = ($four->{gzip}, length $four->{gzip});
$url = begin(\@ci, spec($four))->{json}{files}[0]{action}{url};
is(put($url, $bytes, "0-${\($n - 1)}/*")->{status}, 308, 'all bytes, but the client has not said so');
is(put($url, '', "*/$n")->{status}, 200, '... until it does') or diag $r->{body};
like($t->function($t->ask(['four', $id[4]])), qr/^fourth/, '... the file answers');

# --- the rest never comes: after some hours the range is removed ---

my $half_sent = file('half', $id[8], 'half');
$url = begin(\@ci, spec($half_sent))->{json}{files}[0]{action}{url};
is(put($url, substr($half_sent->{gzip}, 0, 9), '0-8/*')->{status}, 308, 'a part of a file');
my ($part) = grep {m{^\.parts/v2-}} $t->files;
utime((time - 6 * 3600 - 9) x 2, "$dir/symbols/$part") or die "$part: $!";
kill_loader();
$t->wait_for(sub { !-e "$dir/symbols/$part" }, '... has expired');
$r = put($url, '', '*/*');
is_deeply([ $r->{status}, range($r) ], [ 308, undef ], '... the client begins at the start');

# --- files that are not .sym are sent as they are ---

gzip(\(my $text = sym_text('five', $id[5], prefix => 'fifth')), \my $gz);
my $five = { key => "five/$id[5]/five.dbg.gz", text => $gz };
$r = begin(\@ci, spec($five));
my $action = $r->{json}{files}[0]{action};
is($action->{content_encoding}, undef, 'a .dbg.gz has no other encoding');
is(put($action->{url}, $gz)->{status}, 200, '... size and MD5 are those of the compressed bytes');
like($t->function($t->ask(['five', $id[5]])), qr/^fifth/, '... it answers');

# --- try symbols ---

my @try = ('-H', 'Auth-Token: fedcba9876543210');
my $six = file('six', $id[6], 'tried');
$r = begin(\@try, spec($six));
is_deeply([ @{ $r->{json} }{qw(user try_symbols)} ], [ 'try', JSON::PP::true() ], 'a token for try symbols');
is(put($r->{json}{files}[0]{action}{url}, $six->{gzip})->{status}, 200, '... may send them');
is($t->function($t->ask(['six', $id[6]])), 'false', '... others do not see them');
like($t->function($t->post('/try-symbolicate/v5', $t->question(['six', $id[6]]))), qr/^tried/,
    '... a location of its own does');
is(begin(\@try, spec($six))->{json}{files}[0]{action}{type}, 'skip', '... again: skipped');
is(begin(\@ci, spec($six))->{json}{files}[0]{action}{type}, 'upload', '... not for regular symbols');

# --- a file that came by version 1 has no known MD5: it is sent once more ---

my $nine = file('nine', $id[9], 'ninth');
mkdir "$dir/$_" for 'zip', 'zip/nine', "zip/nine/$id[9]";
write_file("$dir/zip/$nine->{key}", $nine->{text});
is(system("cd '$dir/zip' && zip -qr ../symbols.zip ."), 0, 'a zip');
is($t->curl(@ci, '-F', "symbols.zip=\@$dir/symbols.zip", $t->url('/upload/'))->{status}, 201, '... is uploaded');
$action = begin(\@ci, spec($nine))->{json}{files}[0]{action};
is(put($action->{url}, $nine->{gzip})->{json}{files}[0]{state}, 'same', '... its file is there');
is(begin(\@ci, spec($nine))->{json}{files}[0]{action}{type}, 'skip', '... and then skipped');

# --- names that need an encoding ---

my $plus = file("a b+c~&;?:*()\x{c4}\x{80}", $id[7], 'seventh');
$r = begin(\@ci, { %{ spec($plus) }, key => JSON::PP->new->decode('"a b+c~&;?:*()\u0100"') . "/$id[7]/x.sym" });
is($r->{json}{files}[0]{action}{type}, 'upload', 'a key of unusual characters') or diag $r->{body};
is(put($r->{json}{files}[0]{action}{url}, $plus->{gzip})->{status}, 200, '... has a URL that works');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
