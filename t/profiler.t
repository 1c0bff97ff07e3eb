#!/usr/bin/perl

# The Firefox Profiler shows the text of a source file next to its samples, and
# requests it as from samply: /source/v1.  A file is served only to a client
# that names an offset compiled from it, so no client can browse a bundle.
# Errors have status 200, because the profiler's page shows its user only the
# text of such answers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Temp qw(tempdir);
use Test::More;

use SymFetch;
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file);
use SymTest;

my $ID = '7F883FCDC55336D0A809B0150F09500B0';
my $SOURCE = '/Users/swatinem/Coding/sentry-native/examples/example.c';
my $ZIP = need_fixtures('sourcebundles/883fcdc55336d0a809b0150f09500b.src.zip');

# The output of a short Python program: the bundle's contents, and another file.
sub python {
    my ($script, @args) = @_;
    open my $fh, '-|', 'python3', '-c', $script, @args or die "python3: $!";
    binmode $fh;
    local $/;
    my $text = <$fh>;
    close $fh or die 'python3 failed';
    return $text;
}

my $text = python(<<'PY', $ZIP, "files$SOURCE");
import sys, zipfile
sys.stdout.buffer.write(zipfile.ZipFile(sys.argv[1]).read(sys.argv[2]))
PY
utf8::decode($text);
my ($other) = grep { $_ ne $SOURCE } split /\n/, python(<<'PY', $ZIP);
import json, sys, zipfile
for f in json.loads(zipfile.ZipFile(sys.argv[1]).read("manifest.json"))["files"].values():
    print(f["path"])
PY
like($text, qr/int\s+main\(/, 'the source has a main()');
like($other, qr/\S/, "another file of the bundle: $other");

# A text of characters of 1 to 4 bytes, which blocks of any even size split, and
# of characters that JSON escapes.
my $LARGE = '/src/large.c';
my $large_zip = tempdir(CLEANUP => 1) . '/large.zip';
my $large = python(<<'PY', $ZIP, $LARGE, $large_zip);
import io, json, sys, zipfile
text = "".join("x%d \u00e9\u20ac\U0001f600 \"\\\t\u0001\n" % i for i in range(60000)).encode()
whole = open(sys.argv[1], "rb").read()
manifest = { "files": { "files/large.c": { "type": "source", "path": sys.argv[2] } },
    "arch": "x86_64", "debug_id": "00000000-0000-0000-0000-000000000002-1" }
packed = io.BytesIO()
packed.write(whole[:whole.index(b"PK\x03\x04")])
with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as z:
    z.writestr("files/large.c", text)
    z.writestr("manifest.json", json.dumps(manifest))
open(sys.argv[3], "wb").write(packed.getvalue())
sys.stdout.buffer.write(text)
PY
cmp_ok(length $large, '>', 1 << 20, 'a text of many blocks');

my %id = (a => $ID, big => SymFetch::id(2), bare => SymFetch::id(3), slow => SymFetch::id(4));
my $t = SymFetch->new(workers => 2, sources => <<'CONF');
        location /prof/ {
            symbolicate profiler;
            symbolicate_cors on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source native uri=/native/ layout=native;
            symbolicate_source plain uri=/plain/;
        }
        location /metrics { symbolicate_metrics; }
        location /plain/ { internal; proxy_pass http://%%FAULT%%/as/plain/; }
        location /native/ { internal; proxy_pass http://%%FAULT%%/as/native/; }
CONF
$t->start;

# Two files at 0x1004: that of the function, and that of a call inlined there;
# none at 0x2004.
sub upload {
    my ($name, $file, $bundle) = @_;
    $t->fault->file("$name/$id{$name}/$name.sym", "MODULE Linux x86_64 $id{$name} $name\n"
        . "FILE 0 $file\nFILE 1 /src/inlined.h\nINLINE_ORIGIN 0 inlined\n"
        . "FUNC 1000 10 0 fun\nINLINE 0 24 0 0 1000 8\n1000 8 7 1\n1008 8 24 0\nPUBLIC 2000 0 other\n");
    $t->fault->file("$name/$id{$name}/$name.src.zip", $bundle) if defined $bundle;
    return;
}
upload('a', $SOURCE, read_file($ZIP));
upload('big', $LARGE, read_file($large_zip));
upload('bare', '/src/bare.c');
upload('slow', '/src/slow.c');

sub ask {
    my ($name, %with) = @_;
    return $t->request('POST', '/prof/source/v1', body => $t->json({
        debugName => $name, debugId => $id{$name}, moduleOffset => '0x1004', file => $SOURCE,
        %with }), headers => [
        'Content-Type' => 'text/plain;charset=UTF-8', Origin => 'https://profiler.firefox.com' ]);
}

sub is_error {
    my ($r, $error, $what) = @_;
    is($r->{status}, 200, "$what: an answer");
    is_deeply($r->{json}, { error => $error }, "... $error");
    return;
}

my $r = ask('a');
is($r->{status}, 200, 'a text: symbols and sources are fetched');
is_deeply($r->{json}, { symbolsLastModified => undef, sourceLastModified => undef,
    file => $SOURCE, source => $text }, '... it is that of the bundle');
like($r->{body}, qr/\A\{"symbolsLastModified":null,"sourceLastModified":null,"file":"\Q$SOURCE\E","source":"/,
    '... written as samply writes it');
is($r->{headers}{'access-control-allow-origin'}, '*', '... for any page');
is($r->{headers}{'content-type'}, 'application/json', '... as JSON');
is($t->fault->count("/as/native/a/$ID/a.src.zip"), 1, 'one GET of the bundle');
is(ask('a', moduleOffset => '0x100a')->{json}{source}, $text,
    'an offset after the inlined call');

# --- files that must not be served ---

my $refused = 'The requested path is not present in the symbolication frames';
is_error(ask('a', file => $other), $refused, 'another file of the same bundle');
is_error(ask('a', file => "$SOURCE "), $refused, 'nearly the path');
is_error(ask('a', file => '/etc/passwd'), $refused, 'a file of the machine');
is_error(ask('a', file => '/src/inlined.h', moduleOffset => '0x100a'), $refused,
    'a file of another offset');
is_error(ask('bare', file => $SOURCE), $refused, 'a file of another module');
is($t->fault->count("/as/native/bare/$id{bare}/bare.src.zip"), 0,
    '... whose sources are not requested');
is_error(ask('a', moduleOffset => '0x2004'), "Don't have any debug info for the requested library",
    'a symbol without lines');
is_error(ask('a', moduleOffset => '0x9000000'), "Don't have any debug info for the requested library",
    'an offset outside');

# --- missing files ---

is_error(ask('a', file => '/src/inlined.h'), 'An error occurred when reading the file: '
    . "the library's sources do not have it",
        'an inlined file that is not in the bundle');
is_error(ask('bare', file => '/src/bare.c'),
    "An error occurred when reading the file: no source has the library's sources", 'no bundle');
is_error(ask('none', debugId => SymFetch::id(9)),
    'Could not obtain symbols for the requested library: no source has them', 'no symbols');
is_error(ask('none', debugId => 'xyz'),
    'Could not obtain symbols for the requested library: no source has them', 'no debug id');
$t->fault->script('native', 'status/500');
is_error(ask('slow', file => '/src/slow.c'), 'An error occurred when reading the file: '
    . "the library's sources could not be fetched", 'a source that fails');
$t->fault->script('native', 'ok');

# --- a large text, to a slow client ---

my $socket = $t->connect;
$t->send_all($socket, $t->request_text('POST', '/prof/source/v1', body => $t->json({ debugName => 'big',
    debugId => $id{big}, moduleOffset => '0x1004', file => $LARGE })));
my $answer = $t->response($socket);
is($answer->{json}{file}, $LARGE, 'a text of many parts') or diag(substr $answer->{body}, 0, 300);
utf8::decode($large);
ok($answer->{json}{source} eq $large,
    '... is complete, character by character');

# --- invalid requests ---

for my $case (
    ['[]', 'the request must be an object'],
    ['{', 'the request is not JSON'],
    ['{}', 'missing field `debugName`'],
    ['{"debugName": 1}', 'debugName must be a string'],
    ['{"debugName": "a", "debugId": "b", "moduleOffset": "1f", "file": "c"}',
        'moduleOffset must be a number of 32 bits like "0x1f4"'],
    ['{"debugName": "a", "debugId": "b", "moduleOffset": "0x100000000", "file": "c"}',
        'moduleOffset must be a number of 32 bits like "0x1f4"'],
    ['{"debugName": "a", "debugId": "b", "moduleOffset": "0x1"}', 'missing field `file`'],
) {
    $r = $t->request('POST', '/prof/source/v1', body => $case->[0]);
    is($r->{status}, 400, "refused: $case->[0]");
    is_deeply($r->{json}, { title => $case->[1] }, "... $case->[1]");
}

# --- machine code ---

sub disassemble {
    return $t->request('POST', '/prof/asm/v1', body => $t->json({ debugName => 'a', debugId => $ID,
        name => 'a.so', codeId => undef, startAddress => '0x1000', size => '0x10',
        continueUntilFunctionEnd => \0, @_ }));
}

is_error(disassemble(), 'Disassembling needs the machine code of the library, and this server keeps '
    . 'symbols, not programs', 'machine code');
is_deeply(disassemble(size => 16)->{json}, { title => 'size must be a string' },
    'a size that is not a string');
is(disassemble(startAddress => '1000')->{status}, 400, 'a start without 0x');

# --- the rest is as with v5 ---

$r = $t->request('OPTIONS', '/prof/source/v1', headers => [ Origin => 'https://profiler.firefox.com',
    'Access-Control-Request-Method' => 'POST', 'Access-Control-Request-Headers' => 'content-type' ]);
is($r->{status}, 200, 'a preflight');
is($r->{headers}{'access-control-allow-methods'}, 'POST', '... for POST');
is($r->{headers}{'access-control-allow-headers'}, 'content-type', '... with its headers');
is($t->request('GET', '/prof/source/v1')->{status}, 405, 'a GET');
is($t->request('POST', '/prof/symbolicate/v5', body => '{}')->{status}, 404, "another API's path");

my $page = $t->request('GET', '/metrics')->{body};
like($page, qr/\{dialect="profiler",version="source",status="ok",code="2xx"\} \d/, 'counted');
like($page, qr/\{dialect="profiler",version="asm",status="ok",code="2xx"\} 1\n/, '... each by itself');

is($t->end, '', 'nothing is wrong');
done_testing();
