#!/usr/bin/perl

# Bundles of scripts and requests to assemble that were made to do harm: paths that lead
# out, manifests that lie, too many files, chunks or bytes.  Each is refused or bounded,
# nothing is outside of the folder, and the next client is served.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha1_hex);
use JSON::PP ();
use SymLoader qw(write_file);
use SymScripts qw(bundle map_of);
use SymTools ();
use SymUpload;

my $t = SymUpload->new(layout => 'unified', tokens => { ci => { secret => 'ci-secret', rest => 'at_once=100' } })->start;
my $dir = $t->{dir};
my $scripts = SymScripts->new($t, 'ci-secret');
my %pair = ('app.js' => { type => 'minified_source', url => '~/app.js', text => 'function a(){throw 1}' },
    'app.js.map' => { type => 'source_map', url => '~/app.js.map', text => map_of('cart.ts') });

sub id { return sprintf '0c0ffee0-0000-4000-8000-%012x', $_[0] }

sub placed { return grep { !m{^\.} } $t->files }

sub file {
    my ($url, %more) = @_;
    return { type => 'minified_source', url => $url, text => "of $url", %more };
}

# --- paths ---

write_file("$dir/secret", 'secret');
for my $url ('~/../../secret', '~/%2e%2e/%2e%2e/secret', '~/a/../../../secret', '~//secret', '~/a%2fb', '~/a%00b', "~/a\nb",
    '~/' . 'x' x 300, '~/' . join('/', ('x' x 200) x 5), '~/', '~', 'no path', '/secret', 'https://example.com')
{
    my $got = $scripts->upload(bundle({ release => '1.0' }, x => file($url)));
    is($got->{state}, 'error', 'a URL that is no path: ' . JSON::PP->new->allow_nonref->ascii->encode(substr $url, 0, 40));
}
for my $release ('..', '.', '../x', 'a/b', 'x' x 251, "a\nb", '') {
    my $got = $scripts->upload(bundle({ release => $release }, %pair));
    is($got->{state}, 'error', 'a release that is no folder: ' . JSON::PP->new->allow_nonref->encode(substr $release, 0, 20));
}
for my $dist ('..', 'a/b', 'x' x 65) {
    my $got = $scripts->upload(bundle({ release => '1.0', dist => $dist }, %pair));
    # "..~" is a name like any other
    is($got->{state}, 'error', 'a dist that is no folder: ' . substr $dist, 0, 20);
}
for my $id ('../../x', 'zz', '0' x 5000) {
    is($scripts->upload(bundle({}, x => file('~/x', id => $id)))->{state}, 'error', 'not an id: ' . substr $id, 0, 20);
}
is_deeply([ placed() ], [], 'none of them is placed');
is(SymTest::slurp("$dir/secret"), 'secret', '... and nothing outside is changed');

# a script has the path of another's folder
my $got = $scripts->upload(bundle({ release => 'f' }, a => file('~/a'), b => file('~/a/b'), c => file('~/a/b/c'), d => file('~/d')));
is($got->{state}, 'ok', 'a file and a folder of one name') or diag explain $got;
is_deeply([ placed() ], [ 'releases/f/~/a', 'releases/f/~/d' ], '... the first stays, and others are placed');

# --- manifests ---

sub raw {
    my ($manifest) = @_;
    my $bytes = bundle({}, %pair);
    my $zip;
    my $out = '';
    $zip = IO::Compress::Zip->new(\$out, Name => 'app.js') or die;
    $zip->write('function a(){throw 1}');
    $zip->newStream(Name => 'manifest.json');
    $zip->write($manifest);
    $zip->close;
    return "SYSB\2\0\0\0$out";
}

for (['no files', '{}'], ['a list of files', '{"files": []}'], ['files that are none', '{"files": {"app.js": 1}}'],
    ['another file', '{"release": "m", "files": {"other.js": {"type": "minified_source", "url": "~/app.js"}}}'],
    ['numbers for texts', '{"release": "m", "files": {"app.js": {"type": 1, "url": [2], "headers": "x"}}}'],
    ['an attribute that is no text', '{"release": 7, "files": {"app.js": {"type": "minified_source", "url": "~/app.js"}}}'],
    ['no JSON', '{"files": '], ['deep JSON', '[' x 100_000], ['nothing', ''])
{
    my ($what, $manifest) = @$_;
    $got = $scripts->upload(raw($manifest));
    is($got->{state}, 'error', "a manifest with $what") or diag explain $got;
}
$got = $scripts->upload(raw('{"release": "m", "files": {'
    . join(', ', map {"\"gone$_.js\": {\"type\": \"minified_source\", \"url\": \"~/gone$_.js\"}"} 1 .. 100_000)
    . ', "app.js": {"type": "minified_source", "url": "~/app.js"}}}'));
is($got->{state}, 'ok', 'a manifest with 100,000 files that are not there') or diag explain $got;
is_deeply([ grep {m{/m/}} placed() ], ['releases/m/~/app.js'], '... the one that is there is placed');

# two files with one debug id: the last one counts
$got = $scripts->upload(bundle({}, map { ($_ => file("~/$_", id => id(1), text => $_)) } 'a' .. 'f'));
is($got->{state}, 'ok', 'files with one debug id');
is(SymTest::slurp("$dir/symbols/0c/0ffee0000040008000000000000001/script"), 'f', '... the last one is there');

# --- too much ---

my $many = do {
    my $path = "$dir/many.zip";
    system(SymTools::path('python3'), '-c', <<'END', $path, 20_000) == 0 or die;
import json, sys, zipfile
n = int(sys.argv[2])
with open(sys.argv[1], 'wb') as out:
    out.write(b'SYSB\2\0\0\0')
    with zipfile.ZipFile(out, 'w') as z:
        for i in range(n):
            z.writestr(f'{i}.js', f'f{i}()')
        z.writestr('manifest.json', json.dumps({'release': 'many', 'files': {
            f'{i}.js': {'type': 'minified_source', 'url': f'~/{i}.js'} for i in range(n)}}))
END
    SymTest::slurp($path);
};
$got = $scripts->upload($many);
is($got->{state}, 'error', 'a bundle with 20,000 files');
like($got->{detail}, qr/too many files/, '... says why');
is_deeply([ grep {m{/many/}} placed() ], [], '... nothing of it is placed');

$got = $scripts->upload(bundle({ release => 'bomb' }, x => file('~/x', text => "\0" x (300 << 20))));
is($got->{state}, 'error', 'a file that expands a thousand times') or diag explain $got;

sub assemble_files {
    my ($body) = @_;
    my $r = $t->request('POST', '/api/0/projects/o/p/files/difs/assemble/', body => $body,
        headers => [ Authorization => 'Bearer ci-secret', 'Content-Type' => 'application/json' ]);
    return ($r->{status}, eval { JSON::PP::decode_json($r->{body}) });
}

my @sums = map { sha1_hex($_) } 1 .. 6000;
my ($status, $answer) = assemble_files('{' . join(', ', map {"\"$_\": {\"name\": \"x\", \"chunks\": [\"$_\"]}"} @sums) . '}');
is($status, 200, 'a request for 6,000 files');
is_deeply([ scalar keys %$answer, scalar grep { $_->{state} ne 'not_found' } values %$answer ], [ 6000, 0 ], '... an answer for each');
my ($big, $small) = @sums;
($status, $answer) = assemble_files("{\"$big\": {\"name\": \"x\", \"chunks\": [" . join(', ', map {"\"$_\""} @sums[ 0 .. 300 ])
    . "]}, \"$small\": {\"name\": \"y\", \"chunks\": [\"$small\"]}}");
is_deeply([ $status, $answer->{$big}{state}, $answer->{$big}{detail}, $answer->{$small}{state} ],
    [ 200, 'error', 'File exceeds maximum size', 'not_found' ], 'a file of too many chunks, and another one');
$got = $scripts->assemble({ checksum => $big, chunks => [ @sums[ 0 .. 300 ] ], projects => ['p'] });
is_deeply([ @$got{qw(state detail)} ], [ 'error', 'File exceeds maximum size' ], '... a bundle of too many chunks');
($status) = assemble_files("{\"$big\": {\"name\": \"x\", \"chunks\": [" . join(',', ("\"$small\"") x 20_000) . ']}}');
is($status, 200, 'a file of 20,000 chunks') or diag $status;
($status) = assemble_files("{\"$big\": {\"name\": \"x\", \"chunks\": [" . join(',', ("\"$small\"") x 1_000_000) . ']}}');
is($status, 400, 'a file of a million chunks');

# --- the next client ---

is($scripts->upload(bundle({ release => 'last' }, %pair))->{state}, 'ok', 'the next client is served');
is($scripts->ask('https://example.com/app.js', 1, 14, release => 'last'), "readCart https://example.com/cart.ts:2:3 [  throw 'cart.ts';]",
    '... and gets its answer');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'no turn was long, and nothing is wrong');
done_testing();
