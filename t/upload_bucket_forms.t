#!/usr/bin/perl

# All protocols of uploads work with a bucket: Sentry's chunks and bundles, Elastic's
# symbfiles, whole and in parts, both versions of Breakpad's sym_upload.  Requests
# that wait get the symbols.  If the worker or the loader dies meanwhile, nothing is
# acknowledged that is not there.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha1_hex);
use JSON::PP ();

use SymS3;
use SymScripts qw(bundle map_of);
use SymLoader qw(sym_text write_file);
use SymSymbfile qw($HEADER range pad);
use SymUpload;

my $s3 = SymS3->new->start;
$s3->bucket('symbols')->bucket('try');
my $t = SymUpload->new(tokens => { ci => { secret => 'secret' } }, s3 => $s3, layout => 'unified')->start;
my $dir = $t->{dir};
my $n = 0;

sub next_id { return SymFolder::id(++$n) }

sub object {
    my ($key) = @_;
    my $r = $s3->signed('symbols', $key);
    return $r->{status} == 200 ? $r->{body} : undef;
}

# --- Sentry's chunks ---

my $id = next_id();
my $text = sym_text('chunked', $id, prefix => 'chunked');
my @chunks = (substr($text, 0, 100), substr $text, 100);
my $sum = sha1_hex($text);

sub assemble {
    my $r = $t->request('POST', '/api/0/projects/o/p/files/difs/assemble/',
        headers => [ Authorization => 'Bearer secret', 'Content-Type' => 'application/json' ],
        body => JSON::PP->new->encode(
            { $sum => { name => 'chunked.sym', chunks => [ map { sha1_hex($_) } @chunks ] } }));
    return JSON::PP->new->decode($r->{body})->{$sum};
}

sub send_chunks {
    my @form = map {
        write_file("$dir/" . sha1_hex($_), $_);
        ('-F', "file=\@$dir/" . sha1_hex($_) . ';filename=' . sha1_hex($_))
    } @chunks;
    my $r = $t->curl($t->bearer('secret'), @form, $t->url('/api/0/organizations/o/chunk-upload/'));
    return $r->{status};
}

is(assemble()->{state}, 'not_found', 'chunks that were not sent');
is(send_chunks(), 200, 'they are sent');
my $answer;
$t->wait_for(sub { $answer = assemble(); return $answer->{state} ne 'assembling' });
is($answer->{state}, 'ok', 'the file is assembled') or diag JSON::PP->new->encode($answer);
my ($key) = map { $_->{url} =~ s{^/symbols/}{}r } grep { $_->{method} eq 'PUT' } $s3->log;
is(object($key), $text, '... and is in the bucket');
like($t->function($t->ask(['chunked', $id])), qr/^chunked/, '... and answers');
$s3->forget;
is(assemble()->{state}, 'ok', 'again: it is there');
is_deeply([ map { $_->{method} } $s3->log ], ['HEAD'], '... which the bucket was asked');
$s3->delete('symbols', $key);
$t->wait_for(sub { $answer = assemble(); return $answer->{state} ne 'assembling' }, 'assembled');
is(object($key), $text, 'it was removed: it is made again of its chunks, which stay for a while');

# a map that a debug file needs: a newer one replaces it
my $uuid = '2d10c42f-591d-3265-b147-78ba0868073f';
for my $name ('first', 'second') {
    my $map = "BCSymbolMap Version: 2.0\n$name\n";
    write_file("$dir/$uuid.bcsymbolmap", $map);
    my $r = $t->curl($t->bearer('secret'), '--data-binary', "\@$dir/$uuid.bcsymbolmap", $t->url("/upload/$uuid.bcsymbolmap"));
    is($r->{status}, 201, "a map: $name") or diag $r->{body};
    is(object('2d/10c42f591d3265b14778ba0868073f/bcsymbolmap'), $map, '... is in the bucket');
}

# --- a bundle of scripts: each file is an object ---

my $scripts = SymScripts->new($t, 'secret');
my $script = 'https://example.com/app.js';
my %pair = ('app.js' => { type => 'minified_source', url => '~/app.js', text => 'function a(){throw 1}' },
    'app.js.map' => { type => 'source_map', url => '~/app.js.map', text => map_of('cart.ts') });
is($scripts->ask($script, 1, 14, release => '1.0'), 'minified missing_source', 'a script is missing');
$answer = $scripts->upload(bundle({ release => '1.0' }, %pair), version => '1.0');
is($answer->{state}, 'ok', 'a bundle of scripts') or diag explain $answer;
is(object("releases/1.0/~/$_"), $pair{$_}{text}, "... $_ is in the bucket") for sort keys %pair;
is($scripts->ask($script, 1, 14, release => '1.0'), "readCart https://example.com/cart.ts:2:3 [  throw 'cart.ts';]",
    '... and answers');
$pair{'app.js.map'}{text} = map_of('newer.ts');
is($scripts->upload(bundle({ release => '1.0' }, %pair), version => '1.0')->{state}, 'ok', 'a newer one');
is($scripts->ask($script, 1, 14, release => '1.0'), "readCart https://example.com/newer.ts:2:3 [  throw 'newer.ts';]",
    '... replaces it');

my %code = ('cart.ts' => { type => 'source', url => '~/cart.ts', text => "let first = 1;\n" });
is($scripts->upload(bundle({ release => '1.0' }, %code), version => '1.0')->{state}, 'ok', 'a source file');
is(object('releases/1.0/~/cart.ts'), "let first = 1;\n", '... is in the bucket');
$code{'cart.ts'}{text} = "let second = 2;\n";
is($scripts->upload(bundle({ release => '1.0' }, %code), version => '1.0')->{state}, 'ok', 'a newer one');
is(object('releases/1.0/~/cart.ts'), "let second = 2;\n", '... replaces it');

# --- sym_upload v2 ---

$id = next_id();
write_file("$dir/b.sym", sym_text('b', $id, prefix => 'breakpad'));
my $r = $t->curl('-X', 'POST', '-d', '', $t->url('/upload/v1/uploads:create?key=secret'));
my ($url) = $r->{body} =~ /"uploadUrl": "([^"]+)"/;
my ($upload) = $r->{body} =~ /"uploadKey": "([^"]+)"/;
is($t->curl('-T', "$dir/b.sym", $url)->{status}, 200, "Breakpad's sym_upload");
$r = $t->curl('-H', 'Content-Type: application/json', '-d', '{}',
    $t->url("/upload/v1/uploads/$upload:complete?key=secret"));
is($r->{status}, 200, '... is completed');
like($t->function($t->ask(['b', $id])), qr/^breakpad/, '... and answers');
$s3->forget;

# --- sym_upload v1 ---

$id = next_id();
write_file("$dir/v1.sym", sym_text('v1', $id, prefix => 'form'));
$r = $t->curl('-F', 'cpu=x86_64', '-F', 'debug_file=v1', '-F', "debug_identifier=$id",
    '-F', "symbol_file=\@$dir/v1.sym", $t->url('/upload/sym_upload?key=secret'));
is($r->{status}, 200, "Breakpad's sym_upload, v1") or diag $r->{body};
is(object($r->{json}{files}[0]{path}), SymTest::slurp("$dir/v1.sym"), '... the file is in the bucket');
like($t->function($t->ask([ 'v1', $id ])), qr/^form/, '... and answers');

# --- symbfiles ---

sub push_symbols {
    my ($kind, $hex, $body, @part) = @_;
    write_file("$dir/body", $body);
    return $t->curl('-H', 'Authorization: APIKey secret', '-H', "FileID: $hex",
        (map { ('-H', $_) } @part), '--data-binary', "\@$dir/body", $t->url("/upload/api/symbols-$kind"))->{status};
}

# A FileID's digits are those of the debug id without its age.
sub name_at {
    my ($hex, $addr) = @_;
    my $a = $t->post_json('/symbolicate/v5', { memoryMap => [[ 'any', uc($hex) . '0' ]], stacks => [[[ 0, $addr ]]] });
    return $a->{json}{results}[0]{stacks}[0][0]{function};
}

my $hex = sprintf '%032x', 0x77;
is(push_symbols(returnpads => $hex, $HEADER . pad(0x1004, 'pad')), 200, 'return pads');
is(name_at($hex, 0x1004), 'pad', '... answer');
my $body = $HEADER . range(0x1000, 16, 'ranges');
is(push_symbols(ranges => $hex, $body), 200, 'ranges');
is(name_at($hex, 0x1008), 'ranges', '... answer');
is(object("symbfile/$hex/ranges"), $body, '... and are in the bucket');
$body = $HEADER . range(0x1000, 16, 'others');
is(push_symbols(ranges => $hex, $body), 200, 'other ranges');
is(object("symbfile/$hex/ranges"), $body, '... replace them');

$hex = sprintf '%032x', 0x78;
my @parts = map { $HEADER . range(0x1000 * $_, 16, "first$_") } 1, 2;
is(push_symbols(ranges => $hex, $parts[0], 'FilePart: 0', 'FileParts: 2'), 200, 'a part');
is(object("symbfile/$hex/ranges"), undef, '... alone is not put');

# While the bucket takes the joined file, the first part of the next push comes.
$s3->forget->fault(method => 'PUT', hold => 1);
my $last = $t->connect;
$t->send_all($last, "POST /upload/api/symbols-ranges HTTP/1.1\r\nHost: a\r\nAuthorization: APIKey secret\r\n"
    . "FileID: $hex\r\nFilePart: 1\r\nFileParts: 2\r\nContent-Length: " . length($parts[1]) . "\r\n\r\n$parts[1]");
$t->wait_for(sub { grep { $_->{method} eq 'PUT' } $s3->log }, 'the joined file is put');
my @next = map { $HEADER . range(0x1000 * $_, 16, "second$_") } 1, 2;
my $early = $t->connect;
$t->send_all($early, "POST /upload/api/symbols-ranges HTTP/1.1\r\nHost: a\r\nAuthorization: APIKey secret\r\n"
    . "FileID: $hex\r\nFilePart: 0\r\nFileParts: 2\r\nContent-Length: " . length($next[0]) . "\r\n\r\n$next[0]");
$t->wait_for(sub { SymTest::slurp("$dir/symbols/.parts/$hex.ranges.0-2") eq $next[0] }, 'the part is placed');
$s3->release;
is($t->response($last)->{status}, 200, 'the last part of a push');
is(name_at($hex, 0x2000), 'first2', '... which answers');
is($t->response($early)->{status}, 200, 'a part of the next push, meanwhile');
is(push_symbols(ranges => $hex, $next[1], 'FilePart: 1', 'FileParts: 2'), 200, '... and its last one');
is(name_at($hex, 0x1000 * $_), "second$_", "... are joined: $_") for 1, 2;
is_deeply([ glob "$dir/symbols/.parts/*" ], [], '... no part is left');

# --- a request that waits; a client that leaves ---

$s3->forget;
my $waiting = $t->connect;
$id = next_id();
$s3->fault(method => 'GET', stall => 1, times => -1);
$t->send_all($waiting, $t->request_text('POST', '/symbolicate/v5',
    body => $t->question(['waits', $id])));
$t->wait_for(sub { grep { $_->{method} eq 'GET' } $s3->log });
write_file("$dir/w.sym", sym_text('waits', $id, prefix => 'waits'));
$s3->no_faults;
is($t->curl($t->bearer('secret'), '-T', "$dir/w.sym", $t->url("/upload/waits/$id/waits.sym"))->{status},
    201, 'a module that a request waits for');
like($t->function($t->response($waiting)), qr/^waits/, '... it gets it at once');

# --- deaths ---

for my $who (qw(worker loader)) {
    $id = next_id();
    $text = sym_text($who, $id, prefix => 'killed');
    my $client = $t->connect;
    $s3->forget->fault(method => 'PUT', stall => 1);
    $t->send_all($client, "PUT /upload/$who/$id/$who.sym HTTP/1.1\r\nHost: a\r\n"
        . "Authorization: Bearer secret\r\nContent-Length: " . length($text) . "\r\n\r\n$text");
    $t->wait_for(sub { grep { $_->{method} eq 'PUT' } $s3->log });
    if ($who eq 'worker') {
        kill KILL => $t->workers;
    } else {
        kill KILL => $t->loader->pid;
        $t->loader->wait_end;
        is($t->response($client)->{status}, 503, 'the loader is killed: 503');
        $t->loader_start;
    }
    ok((!grep { ($_->{status} // 0) == 200 } grep { $_->{method} eq 'PUT' } $s3->log),
        "the $who is killed while the file is sent");
    write_file("$dir/$who", $text);
    my $again;
    $t->wait_for(sub {
        $again = $t->curl($t->bearer('secret'), '-T', "$dir/$who",
            $t->url("/upload/$who/$id/$who.sym"));
        return $again->{status} && $again->{status} != 503;
    });
    like($again->{status}, qr/^20[01]$/, '... a second try stores it') or diag $again->{body};
    like($t->function($t->ask([$who, $id])), qr/^killed/, '... and it answers');
}

is($t->loader->verify, 'sound', 'the store is sound');
$t->allow(qr/exited on signal 9/);
is($t->end, '', 'nothing else is wrong');
$s3->stop;
done_testing();
