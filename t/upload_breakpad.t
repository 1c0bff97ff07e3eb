#!/usr/bin/perl

# Breakpad's sym_upload, after its source: the requests of its forms for Linux,
# macOS and Windows, byte by byte, and what each of them makes of the answers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Compress::Zlib ();
use SymLoader qw(sym_text);
use SymUpload;

my $t = SymUpload->new(tokens => { ci => { secret => 'thekey' } })->start;
my @id = map { SymFolder::id($_) } 0 .. 19;

sub http {
    my ($method, $path, %o) = @_;
    return $t->request($method, $path, %o);
}

# --- v1: a form; 200 is success, and the answer's body is not read ---

sub form {
    my ($filename, $symbols, @fields) = @_;
    my $body = '';
    while (my ($key, $value) = splice @fields, 0, 2) {
        $body .= "--BOUNDARY\r\nContent-Disposition: form-data; name=\"$key\"\r\n\r\n$value\r\n";
    }
    return $body . "--BOUNDARY\r\nContent-Disposition: form-data; name=\"symbol_file\"; "
        . "filename=\"$filename\"\r\nContent-Type: application/octet-stream\r\n\r\n$symbols\r\n"
        . "--BOUNDARY--\r\n";
}

sub v1 {
    my ($n, $filename, @fields) = @_;
    my $text = sym_text("v$n", $id[$n], prefix => "one$n");
    my $r = http('POST', '/upload/sym_upload?key=thekey',
        body => form($filename, $text, cpu => 'x86_64', debug_file => "v$n",
            code_file => "v$n", debug_identifier => $id[$n], @fields),
        headers => [ 'User-Agent' => 'Breakpad/1.0 (Linux)',
            'Content-Type' => 'multipart/form-data; boundary=BOUNDARY' ]);
    is($r->{status}, 200, "v1: $filename") or diag $r->{body};
    like($t->function($t->ask(["v$n", $id[$n]])), qr/^one$n/, '... is there');
    return;
}

v1(1, 'v1.sym',       os => 'Linux');
v1(2, 'minidump.dmp', os => 'mac');
v1(3, 'v3.sym', os => 'windows', version => '1.0', product => 'P');
is(http('POST', '/upload/sym_upload?key=wrong', body => form('a', 'b'),
    headers => [ 'Content-Type' => 'multipart/form-data; boundary=BOUNDARY' ])->{status},
    401, 'v1: a wrong key');

# --- v2 ---

# The clients' regular expressions.
sub upload_url { return [ $_[0] =~ /"uploadUrl": "([^"]+)"/g ] }
sub upload_key { return [ $_[0] =~ /"uploadKey": "([^"]+)"/g ] }

sub status_of {
    my ($name, $id, $version) = @_;
    my $r = http('GET', "/upload$version/symbols/$name/$id:checkStatus?key=thekey");
    return $r->{body} =~ /"status": "([^"]+)"/ ? $1 : "none: $r->{body}";
}

sub v2 {
    my ($n, $how, $version) = @_;
    my ($name, $id) = ("w$n", $id[$n]);
    my $text = sym_text($name, $id, prefix => "two$n");

    is(status_of($name, $id, $version), 'MISSING', "v2 $how: not there");
    my $r = http('POST', "/upload$version/uploads:create?key=thekey", body => '',
        headers => $how eq 'linux' ? [ 'Content-Type' => 'application/x-www-form-urlencoded' ] : []);
    is($r->{status}, 200, '... create');
    my ($urls, $keys) = (upload_url($r->{body}), upload_key($r->{body}));
    is_deeply([ scalar @$urls, scalar @$keys ], [ 1, 1 ], '... gives one URL and one key') or die $r->{body};
    my ($path) = $urls->[0] =~ m{^http://localhost(/.*)\z};
    ok($path, '... an absolute one') or die $urls->[0];

    my @put = $how eq 'windows'
        ? (body => Compress::Zlib::compress($text), headers => [ 'Content-Encoding' => 'deflate' ])
        : (body => $text, headers => []);
    if ($how eq 'linux') {
        $r = http('PUT', $path, chunks => [ substr($text, 0, 7), substr $text, 7 ]);
    } else {
        $r = http('PUT', $path, @put);
    }
    is($r->{status}, 200, '... PUT') or diag $r->{body};
    like($t->function($t->ask([$name, $id])), qr/^two$n/, '... answers at once');
    is(SymTest::slurp("$t->{dir}/symbols/$name/$id/$name.sym"), $text, '... and is placed unpacked');

    my %complete = (
        linux => "{ symbol_id: {debug_file: \"$name\", debug_id: \"$id\" }, symbol_upload_type: \"BREAKPAD\" }",
        mac => "{\n  \"symbol_id\" : {\n    \"debug_file\" : \"$name\",\n    \"debug_id\" : \"$id\"\n  },\n"
            . "  \"symbol_upload_type\" : \"BREAKPAD\", \"use_async_processing\": \"true\"\n}",
        windows => "{ metadata: {product_name: \"P\"},symbol_id: {debug_file: \"$name\", debug_id: \"$id\" }, "
            . 'symbol_upload_type: "BREAKPAD", use_async_processing: true }');
    $r = http('POST', "/upload$version/uploads/$keys->[0]:complete?key=thekey", body => $complete{$how},
        headers => [ 'Content-Type' => $how eq 'linux' ? 'application/son' : 'application/json' ]);
    is($r->{status}, 200, '... complete');
    like($r->{body}, qr/"result": "(OK|DUPLICATE_DATA)"/, '... says so');
    is(status_of($name, $id, $version), 'FOUND', '... and it is found');
    return;
}

v2(4, 'linux',   '/v1');
v2(5, 'mac',     '/v1');
v2(6, 'windows', '/v1');
v2(7, 'linux',   '');

# a file that came by v1 is not sent again
is(status_of('v1', $id[1], '/v1'), 'FOUND', 'v2 finds a file of v1');

# macOS encodes names; Linux does not have names with spaces
my ($spaced, $spaced_id) = ('w 8', $id[9]);
is(http('PUT', '/upload/v1/uploads/8?key=thekey', body => sym_text($spaced, $spaced_id, prefix => 'eight'))->{status},
    200, 'a name with a space');
is(status_of('w%208', $spaced_id, '/v1'), 'FOUND', '... is found in its encoded form');
is(status_of('w%208', $id[10], '/v1'), 'MISSING', '... with its id only');

is(http('POST', '/upload/v1/uploads:create?key=wrong', body => '')->{status}, 401, 'a wrong key');
my $r = http('GET', "/upload/v1/symbols/a/$id[8]:checkStatus?key=wrong");
is($r->{status}, 401, '... to ask');
unlike($r->{body}, qr/"status"/, '... is no answer for a client that reads no status');
is(http('POST', '/upload/v1/uploads/1:complete', body => '{}')->{status}, 401, '... to complete');
is(http('PUT', '/upload/v1/uploads/1?key=thekey', body => 'no symbols')->{status}, 400, 'a file of no type');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
