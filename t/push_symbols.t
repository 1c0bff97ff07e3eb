#!/usr/bin/perl

# Users of Elastic's profiling push the symbols of an executable, which agents know
# by its FileID.  push-symbols sends ranges and return pads, in parts: to our own
# server, and to another one that reads each part by Google's protobuf.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Cpanel::JSON::XS ();
use Test::More;

use SymLoader qw(write_file);
use SymServer;
use SymTools;
use SymUpload;

my $KEY = 'aWQ6c2VjcmV0';    # base64 of id:secret
my $t = SymUpload->new(layout => 'unified', tokens => { agent => { secret => $KEY } })->start;
my $dir = $t->{dir};
my $reader = "$FindBin::Bin/lib/symbfile.py";

write_file("$dir/a.c", <<'END');
#include <stdio.h>
static inline int twice(int n) { return puts("a") + puts("b") * n; }
__attribute__((noinline)) int own(int n) { return twice(n) + 1; }
int main(int argc, char **argv) { return own(argc) + puts(argv[0]); }
END
system("cd '$dir' && gcc -O2 -g a.c -o app && strip -o stripped app && objcopy --only-keep-debug app app.debug") == 0
    or BAIL_OUT('gcc');

sub push_to {
    my ($url, @args) = @_;
    local $ENV{SYMBOLICATE_API_KEY} = $KEY;
    return $t->loader->run({ no_store => 1 }, 'push-symbols', '--server', $url, @args);
}

sub file_id_of {
    my ($file) = @_;
    my ($hex, $base64) = split / /, $t->loader->run({ no_store => 1 }, 'fileid', $file)->{out};
    return ($hex, $base64);
}

sub records_of {
    my ($format, $file) = @_;
    my $to = "$dir/records.$format";
    my $r = $t->loader->run({ no_store => 1 }, 'dump', "--format=$format", '-o', $to, $file);
    $r->{code} == 0 or die $r->{err};
    return [ map { Cpanel::JSON::XS::decode_json($_) } split /\n/, qx(python3 '$reader' read '$to') ];
}

sub other_server {
    my ($plan) = @_;
    my $server = SymServer->start('elastic', SymTools::path('python3'), "$FindBin::Bin/lib/elastic_server.py",
        Cpanel::JSON::XS::encode_json($plan));
    my $port = $server->line->{port};
    return ($server, "http://127.0.0.1:$port/p");
}

# --- our own server ---

my ($hex, $base64) = file_id_of("$dir/app");
my $url = $t->url('/upload/');
my $r = push_to($url, "$dir/app");
is($r->{code}, 0, 'pushed') or diag $r->{err};
like($r->{out}, qr/^\Q$base64\E ranges: 1 part, [\d.]+ \w+\n\Q$base64\E returnpads: 1 part, [\d.]+ \w+\n\z/, '... both files');

my ($main) = map { /^(\w+) T own$/ ? hex $1 : () } split /\n/, qx(nm '$dir/app');
$r = $t->post_json('/symbolicate/v5', { memoryMap => [[ 'any', uc($hex) . '0' ]], stacks => [[[0, $main]]] });
is($r->{json}{results}[0]{stacks}[0][0]{function}, 'own', '... and answered');

# frames of a profile, by FileID and address: a leaf has the address of an
# instruction; another frame its return address less 1, as agents send it
sub frames_at {
    my ($id, @at) = @_;
    my $v5 = $t->post_json('/symbolicate/v5',
        { memoryMap => [[ 'app', uc($id) . '0' ]], stacks => [[ map { [ 0, $_ ] } @at ]] });
    return [ map {
        my $f = $_;
        join '|', map { "$_->{function} " . ($_->{file} // '') . ':' . ($_->{line} // 0) } $f, reverse @{ $f->{inlines} // [] };
    } @{ $v5->{json}{results}[0]{stacks}[0] } ];
}

my @pads = map { $_->[1] } @{ records_of('returnpads', "$dir/app") };
my @pad_frames = map { join '|', map { "$_->[0] $_->[1]:$_->[2]" } @{ $_->{frames} } } @pads;
my @returns = map { $_->{va} } @pads;
is_deeply(frames_at($hex, @returns), \@pad_frames, 'frames that return: as in the return pads');
my ($first_line) = map { $_->[1]{lines}[0][1] } grep { $_->[1]{func} eq 'own' } @{ records_of('symbfile', "$dir/app") };
is_deeply(frames_at($hex, $main), [ "own $dir/a.c:$first_line" ], 'a leaf: as in the ranges');

{
    my $alone = '00112233445566778899aabbccddeeff';
    my $body = SymLoader::read_file("$dir/records.returnpads");
    my $sent = $t->request('POST', '/upload/api/symbols-returnpads', body => $body,
        headers => [ Authorization => "APIKey $KEY", FileID => $alone ]);
    is($sent->{status}, 200, 'return pads alone') or diag $sent->{body};
    is_deeply(frames_at($alone, @returns), \@pad_frames, '... answer frames that return');
    is_deeply($t->post_json('/symbolicate/v5', { memoryMap => [[ 'app', "${alone}0" ]], stacks => [[[ 0, $main ]]] })
            ->{json}{results}[0]{stacks}[0][0]{function}, undef, '... and no leaf');
}

my ($stripped) = file_id_of("$dir/stripped");
isnt($stripped, $hex, 'a stripped copy has another FileID');
$r = push_to($url, '--debug', "$dir/app", "$dir/stripped");
is($r->{code}, 0, '... whose symbols are in another file') or diag $r->{err};
$r = $t->post_json('/symbolicate/v5', { memoryMap => [[ 'any', uc($stripped) . '0' ]], stacks => [[[0, $main]]] });
is($r->{json}{results}[0]{stacks}[0][0]{function}, 'own', '... and is answered');

# --- another server: what it reads, in parts ---

my ($server, $other) = other_server([]);
my $loader = "$FindBin::Bin/../" . ($ENV{SYM_BUILD} // 'build') . '/symloader';
my ($large) = file_id_of($loader);
$r = push_to("$other/", '--part-size', '64k', $loader);
is($r->{code}, 0, 'a large program') or diag $r->{err};
my $seen = $server->ask({});
is_deeply([ sort keys %{ $seen->{taken} } ], [$large], '... has its FileID');
for ([ ranges => 'symbfile' ], [ returnpads => 'returnpads' ]) {
    my ($kind, $format) = @$_;
    my ($got, $want) = ($seen->{taken}{$large}{$kind}, records_of($format, $loader));
    cmp_ok(scalar @$want, '>', 1000, "... $kind: " . @$want . " records in $seen->{parts}{$kind} parts");
    my @wrong = grep { Cpanel::JSON::XS->new->canonical->encode($got->[$_] // [])
            ne Cpanel::JSON::XS->new->canonical->encode($want->[$_] // []) } 0 .. ($#$want > $#$got ? $#$want : $#$got);
    is(scalar @wrong, 0, '... those of the dump')
        or diag(Cpanel::JSON::XS->new->canonical->pretty->encode([ $got->[$wrong[0]], $want->[$wrong[0]] ]));
}
is_deeply({ map { $_->{Authorization} => 1 } @{ $seen->{headers} } }, { "APIKey $KEY" => 1 }, '... each with the key');
$server->stop;

# --- a debug file without code ---

($server, $other) = other_server([]);
$r = push_to($other, '--debug', "$dir/app.debug", "$dir/stripped");
is($r->{code}, 0, 'symbols in a debug file, code in the executable') or diag $r->{err};
$seen = $server->ask({})->{taken}{$stripped};
is_deeply($seen->{ranges}, records_of('symbfile', "$dir/app"), '... the same ranges');
is_deeply($seen->{returnpads}, records_of('returnpads', "$dir/app"), '... the same return pads');
$server->stop;

# --- failures ---

($server, $other) = other_server([ [ 503, 1 ], [ 429, undef ], [ 200, undef ], [ 500, undef ] ]);
is(push_to($other, "$dir/app")->{code}, 0, 'a busy server');
is_deeply($server->ask({})->{statuses}, [ 503, 429, 200, 500, 200 ], '... is asked again');
$server->stop;

($server, $other) = other_server([ [ 401, undef ], [ 200, undef ] ]);
$r = push_to($other, "$dir/app");
is($r->{code}, 1, 'a refusal');
like($r->{err}, qr/status 401, error 1234: Not this one\. \(00000000-0000-0000-0000-000000000007\)/, '... has its text and UUID');
is_deeply($server->ask({})->{statuses}, [ 401, 200 ], '... is not repeated, and the other file is sent');
$server->stop;

{
    local $ENV{SYMBOLICATE_API_KEY} = 'another';
    $r = $t->loader->run({ no_store => 1 }, 'push-symbols', '--server', $url, "$dir/app");
    is($r->{code}, 1, 'our server, another key');
    like($r->{err}, qr/status 401, error 1101: .*\([0-9a-f-]{36}\)/, '... is refused');
    delete local $ENV{SYMBOLICATE_API_KEY};
    $r = $t->loader->run({ no_store => 1 }, 'push-symbols', '--server', $url, "$dir/app");
    is($r->{code}, 2, 'no key');
    like($r->{err}, qr/SYMBOLICATE_API_KEY: this variable must have/, '... is named');
}
is(push_to($url, "$dir/none")->{code}, 1, 'no such file');
$r = push_to($url, "$dir/app.debug");
is($r->{code}, 1, 'a file without code');
like($r->{err}, qr/it has no code/, '... has no return pads');
$r = push_to('https://127.0.0.1/', "$dir/app");
is($r->{code}, 1, 'https');
like($r->{err}, qr{not http://HOST}, '... is refused');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
