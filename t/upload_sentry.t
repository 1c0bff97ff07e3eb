#!/usr/bin/perl

# Sentry's own sentry-cli uploads debug files, source bundles and mappings by chunks,
# and requests get their symbols.  Chunks and checksums that do not fit are refused
# in a way that it understands.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha1_hex);
use JSON::PP ();
use POSIX qw(mkfifo);
use SymElf qw(output run_ok);
use SymLoader qw(sym_text write_file);
use SymScripts qw(map_of);
use SymSentryCli;
use SymUpload;

my $t = SymUpload->new(layout => 'unified', tokens => { ci => { secret => 'ci-secret' } })->start;
my $dir = $t->{dir};
my @to = ('-o', 'org', '-p', 'project');

sub cli { return SymSentryCli::run($t, 'ci-secret', @_) }

sub sentry {
    my ($path, $body) = @_;
    my $r = $t->request('POST', "/sentry/$path", headers => ['Content-Type' => 'application/json'],
        body => JSON::PP::encode_json($body));
    return eval { JSON::PP::decode_json($r->{body}) } // { error => $r->{body} };
}

# --- a program with its sources ---

mkdir "$dir/$_" for qw(src in);
write_file("$dir/src/app.c", <<'END');
__attribute__((noinline)) int
sum(int a)
{
    return a * 3;
}

int
main(int argc, char **argv)
{
    (void) argv;
    return sum(argc);
}
END
run_ok('gcc', '-g', '-O1', '-Wl,--build-id', '-o', "$dir/in/app", "$dir/src/app.c");
my ($build_id) = output('eu-readelf', '-n', "$dir/in/app") =~ /Build ID: ([0-9a-f]{40})/;
my ($start) = output('nm', "$dir/in/app") =~ /^([0-9a-f]+) T sum$/m;

my ($code, $said) = cli('debug-files', 'upload', @to, '--include-sources', "$dir/in");
is($code, 0, 'debug-files upload') or diag $said;
like($said, qr/Uploaded 2 missing debug information files/, '... sends file and sources');
like($said, qr/OK .*\(app; \S+ debug companion\)/, '... and is told what they are');
like($said, qr/OK .*\(app; \S+ sources\)/,         '... of both');

my $r = sentry('symbolicate', {
    modules => [{ type => 'elf', code_id => $build_id, code_file => 'app', image_addr => '0x100000' }],
    stacktraces => [{ frames => [{ instruction_addr => sprintf '0x%x', 0x100001 + hex $start }] }],
    options => { dif_candidates => JSON::PP::false },
});
my $frame = $r->{stacktraces}[0]{frames}[0];
is($frame->{function}, 'sum', 'a request gets the function') or diag explain $r;
like($frame->{abs_path}, qr{/src/app\.c$}, '... its file');
is($frame->{lineno}, 4, '... and line');
is($frame->{context_line}, '    return a * 3;', '... with its text');

($code, $said) = cli('debug-files', 'upload', @to, '--include-sources', '--wait', "$dir/in");
is($code, 0, 'the same again') or diag $said;
like($said, qr/Nothing to upload, all files are on the server/, '... nothing is sent');

# --- files that are larger than a chunk, and many ---

my $many = 12;
mkdir "$dir/many";
for my $n (1 .. $many) {
    my $id = SymFolder::id($n);
    write_file("$dir/many/m$n.sym", sym_text("m$n", $id, prefix => "many$n")
        . ($n == 1 ? join '', map { sprintf "PUBLIC %x 0 padding_%d\n", 0x10000 + $_, $_ } 1 .. 400_000 : ''));
}
cmp_ok(-s "$dir/many/m1.sym", '>', 8 << 20, 'one file is larger than a chunk');
($code, $said) = cli('debug-files', 'upload', @to, '--wait', "$dir/many");
is($code, 0, 'many .sym files') or diag $said;
like($t->function($t->ask(["m$_", SymFolder::id($_)])), qr/^many$_/, "... m$_ is there") for 1, 2, $many;

# --- a mapping ---

write_file("$dir/mapping.txt", "b.Main -> x:\n    1:2:void go():20:21 -> a\n");
my ($uuid) = (cli('uuid', "$dir/mapping.txt"))[1] =~ /([0-9a-f-]{36})/;
($code, $said) = cli('upload-proguard', @to, "$dir/mapping.txt");
is($code, 0, 'upload-proguard') or diag $said;
($uuid) = $said =~ /([0-9a-f]{8}-[0-9a-f-]{27})/ if !$uuid;
$r = sentry('symbolicate-jvm', {
    modules => [{ uuid => $uuid, type => 'proguard' }],
    stacktraces => [{ frames => [{ module => 'x', function => 'a', lineno => 2, index => 0 }] }] });
$frame = $r->{stacktraces}[0]{frames}[0];
is("$frame->{module}.$frame->{function}:$frame->{lineno}", 'b.Main.go:21', '... a request gets the names')
    or diag explain $r;

# --- scripts and their maps: t/upload_scripts.t ---

mkdir "$dir/web";
write_file("$dir/web/app.js", "function a(){throw 1}\n//# sourceMappingURL=app.js.map\n");
write_file("$dir/web/app.js.map", map_of('cart.ts'));
($code, $said) = cli('sourcemaps', 'upload', @to, '--release', '1.0', '--dist', 'd', '--url-prefix', '~/static', "$dir/web");
is($code, 0, 'sourcemaps upload') or diag $said;
is(SymScripts->new($t, 'ci-secret')->ask('https://example.com/static/app.js', 1, 14, release => '1.0', dist => 'd'),
    "readCart https://example.com/static/cart.ts:2:3 [  throw 'cart.ts';]", '... a request gets the place');

# --- tokens ---

($code, $said) = SymSentryCli::run($t, 'wrong', 'debug-files', 'upload', @to, "$dir/in");
isnt($code, 0, 'a wrong token');
like($said, qr/the token is unknown/, '... sentry-cli shows why');

# --- the requests themselves ---

my @auth = (Authorization => 'Bearer ci-secret');
my $fixture = 'this is some binary data for the test';
my @chunks = ('this is some bin', 'ary data for the', ' test');
my $sum = sha1_hex($fixture);
is($sum, '8e2f54f899107ad16af3f0bc8cc6e39a0fd9299e', 'the fixture of Sentry\'s tests');

sub assemble {
    my ($body) = @_;
    my $a = $t->request('POST', '/api/0/projects/o/p/files/difs/assemble/', body => ref $body
        ? JSON::PP::encode_json($body) : $body, headers => [ @auth, 'Content-Type' => 'application/json' ]);
    return ($a->{status}, eval { JSON::PP::decode_json($a->{body}) });
}

sub send_chunks {
    my (@parts) = @_;
    my $body = join '', map {
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"$_->[0]\"\r\n"
            . "Content-Type: application/octet-stream\r\n\r\n$_->[1]\r\n"
    } @parts;
    return $t->request('POST', '/api/0/organizations/o/chunk-upload/', body => "$body--B--\r\n",
        headers => [ @auth, 'Content-Type' => 'multipart/form-data; boundary=B' ]);
}

my %ask = ($sum => { name => 'x', chunks => [ map { sha1_hex($_) } @chunks ] });
my ($status, $answer) = assemble(\%ask);
is_deeply([ $status, $answer->{$sum}{state}, $answer->{$sum}{missingChunks} ],
    [ 200, 'not_found', $ask{$sum}{chunks} ], 'no chunk is there');
is(send_chunks([ sha1_hex($chunks[0]), $chunks[0] ], [ sha1_hex($chunks[2]), $chunks[2] ])->{status},
    200, 'two chunks are sent');
($status, $answer) = assemble(\%ask);
is_deeply($answer->{$sum}{missingChunks}, [ sha1_hex($chunks[1]) ], '... one is missing');
is(send_chunks([ sha1_hex($chunks[1]), 'other data' ])->{status}, 400, 'a chunk of another SHA-1');
is(send_chunks([ '../../x', 'data' ])->{status}, 400, 'a name that leads out');
my $long = 'x' x (9 << 20);
is(send_chunks([ sha1_hex($long), $long ])->{status}, 400, 'a chunk that is too long');
is(send_chunks([ sha1_hex($chunks[1]), $chunks[1] ])->{status}, 200, 'the third chunk');
($status, $answer) = assemble(\%ask);
is_deeply([ $answer->{$sum}{state}, $answer->{$sum}{missingChunks} ], [ 'error', [] ],
    'all are there, and the file is no debug file');
like($answer->{$sum}{detail}, qr/not a symbol file|unknown|format|read/, '... says why');
($status, $answer) = assemble(\%ask);
is($answer->{$sum}{state}, 'error', '... and again, without another upload');

send_chunks(map { [ sha1_hex($_), $_ ] } @chunks);
my $other = 'ab' x 20;
($status, $answer) = assemble({ $other => $ask{$sum} });
is_deeply([ $answer->{$other}{state}, $answer->{$other}{detail} ], [ 'error', 'Reported checksum mismatch' ],
    'chunks of another file');
is((assemble({ $other => { name => 'x', chunks => [] } }))[1]{$other}{state}, 'not_found', 'no chunks');
for my $bad ('[]', '{', '{"x": {"name": "a", "chunks": []}}', '{"' . uc($other) . '": {"name": "a", "chunks": []}}',
    qq({"$other": {"chunks": []}}), qq({"$other": {"name": "a", "chunks": [1]}})) {
    ($status, $answer) = assemble($bad);
    is_deeply([ $status, [ keys %$answer ] ], [ 400, ['error'] ], "400: $bad");
}

# --- chunks that two files share ---

my ($id1, $id2, $id3) = map { SymFolder::id($_) } 901 .. 903;
my $shared = join '', map { sprintf "PUBLIC %x 0 shared_%d\n", 0x1000 + $_, $_ } 1 .. 50;
my %file = map { my ($name, $id) = @$_; my $head = sym_text($name, $id, prefix => $name);
    my $all = $head . $shared; (sha1_hex($all) => { name => $name, chunks => [ sha1_hex($head), sha1_hex($shared) ], head => $head }) }
    [ two1 => $id1 ], [ two2 => $id2 ], [ two3 => $id3 ];
my %named = map { $file{$_}{name} => $_ } keys %file;
send_chunks([ sha1_hex($shared), $shared ], map { [ sha1_hex($_->{head}), $_->{head} ] } values %file);
delete $_->{head} for values %file;
for my $name ('two1', 'two2') {
    ($status, $answer) = assemble({ $named{$name} => $file{ $named{$name} } });
    is($answer->{ $named{$name} }{state}, 'ok', "$name is complete");
}
like($t->function($t->ask([ $_->[0], $_->[1] ])), qr/^$_->[0]/, "... $_->[0] answers") for [ two1 => $id1 ], [ two2 => $id2 ];

# A chunk that goes between the loader's look and the assembly.  Another assembly
# keeps the placer waiting: its chunk is a pipe.
my $pipe = "$dir/symbols/.chunks/" . 'ab' x 20;
mkfifo($pipe, 0600) or die "mkfifo: $!";
my @waiting = map {
    my $json = JSON::PP::encode_json($_);
    my $s = $t->connect;
    $t->send_all($s, "POST /api/0/projects/o/p/files/difs/assemble/ HTTP/1.1\r\nHost: a\r\n"
        . "Authorization: Bearer ci-secret\r\nContent-Type: application/json\r\nContent-Length: " . length($json)
        . "\r\n\r\n$json");
    # the loader has it
    $t->wait_for(sub { my ($sum_of) = keys %$_; (assemble($_))[1]{$sum_of}{state} eq 'assembling' });
    $s;
} { 'cd' x 20 => { name => 'x', chunks => [ 'ab' x 20 ] } }, { $named{two3} => $file{ $named{two3} } };
unlink "$dir/symbols/.chunks/$file{ $named{two3} }{chunks}[1]" or die;
open my $to, '>', $pipe or die;
close $to;
unlink $pipe;
$r = $t->response($waiting[0]);
$r = $t->response($waiting[1]);
$answer = eval { JSON::PP::decode_json($r->{body}) }->{ $named{two3} };
is_deeply([ $r->{status}, $answer->{state}, $answer->{missingChunks} ], [ 200, 'not_found', [ $file{ $named{two3} }{chunks}[1] ] ],
    'a chunk that went: it is sent again') or diag $r->{body};

# --- chunks whose files never get complete ---

send_chunks([ sha1_hex($_), $_ ]) for qw(old new);
utime 1, 1, "$dir/symbols/.chunks/" . sha1_hex('old');
$t->loader->stop;
$t->loader_start;
ok($t->wait_for(sub { $t->loader->stats; return !-e "$dir/symbols/.chunks/" . sha1_hex('old') },
    'an old chunk goes'), 'an old chunk goes when the loader starts');
ok(-e "$dir/symbols/.chunks/" . sha1_hex('new'), '... others stay');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
