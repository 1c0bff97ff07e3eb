#!/usr/bin/perl

# Scripts and source maps that a CI job uploads as sentry-cli does, in a bundle, answer
# JavaScript requests: by the debug ids of the files, or by release, dist and URL.  The
# newest upload of a file wins, and older files stay.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha1_hex);
use SymScripts qw(bundle map_of);
use SymUpload;

my $t = SymUpload->new(layout => 'unified')->start;
my $scripts = SymScripts->new($t, 'ci-secret');
my $site = 'https://example.com/static';
my $text = 'function a(){throw 1}';

sub id { return sprintf '0c0ffee0-0000-4000-8000-%012x', $_[0] }

sub pair {
    my ($name, $source, %more) = @_;
    my %id = $more{id} ? (id => $more{id}) : ();
    return (
        "$name.js" => { type => 'minified_source', url => "~/static/$name.js", %id,
            text => "$text\n//# sourceMappingURL=$name.js.map\n" },
        "$name.js.map" => { type => 'source_map', url => "~/static/$name.js.map", %id, text => map_of($source) });
}

# --- by debug id ---

is($scripts->ask("$site/app.js", 1, 14, id => id(1)), 'minified missing_source', 'nothing is there yet');
my $bytes = bundle({ org => 'o', project => 'p' }, pair('app', 'cart.ts', id => id(1)), pair('other', 'o.ts', id => id(2)));
my $got = $scripts->upload($bytes);
is_deeply($got->{first}, { state => 'not_found', detail => undef, missingChunks => [ sha1_hex($bytes) ] },
    'first its chunk is missing');
is_deeply([ @$got{qw(state detail missingChunks)} ], [ 'ok', undef, [] ], '... then the bundle is there') or diag explain $got;
is($scripts->ask("$site/app.js", 1, 14, id => id(1)), "readCart $site/cart.ts:2:3 [  throw 'cart.ts';]",
    '... and answers at once, where nothing was');
is($scripts->ask('app:///x.js', 1, 14, id => id(2)), "readCart app:///o.ts:2:3 [  throw 'o.ts';]", '... whatever the URL');
is($scripts->ask("$site/app.js", 1, 14), 'minified missing_source', '... but not without the id');
is_deeply([ grep { !/^\./ } $t->files ], [ sort map { my $n = $_; map { sprintf '0c/0ffee0000040008000%012x/%s', $n, $_ }
    qw(script sourcemap) } 1, 2 ], '... and is in the folder, file by file');
is($scripts->assemble(SymScripts::request_of($bytes))->{state}, 'ok', 'the same again needs no chunk');

# --- by release, dist and URL ---

for my $dist (undef, 'd1', 'd2') {
    $got = $scripts->upload(bundle({ release => 'app@1.0+5', $dist ? (dist => $dist) : () },
        pair('app', ($dist // 'none') . '.ts')), version => 'app@1.0+5', $dist ? (dist => $dist) : ());
    is($got->{state}, 'ok', 'a release, ' . ($dist ? "dist $dist" : 'no dist')) or diag explain $got;
}
for my $dist (undef, 'd1', 'd2') {
    my $name = $dist // 'none';
    is($scripts->ask("$site/app.js?v=3#x", 1, 14, release => 'app@1.0+5', dist => $dist),
        "readCart $site/$name.ts:2:3 [  throw '$name.ts';]", "... answers for $name");
}
is($scripts->ask("$site/app.js", 1, 14, release => 'app@1.0+5', dist => 'd3'), 'minified missing_source', 'another dist');
is($scripts->ask("$site/app.js", 1, 14, release => 'app@1.0'), 'minified missing_source', 'another release');

# --- a newer bundle ---

my %old = (release => '2.0');
is($scripts->upload(bundle({%old}, pair('app', 'old.ts'), pair('stays', 'stays.ts', id => id(3))), version => '2.0')->{state}, 'ok', 'a bundle');
is($scripts->ask("$site/app.js", 1, 14, %old), "readCart $site/old.ts:2:3 [  throw 'old.ts';]", '... answers');
is($scripts->upload(bundle({%old}, pair('app', 'new.ts'), pair('stays', 'moved.ts', id => id(4))), version => '2.0')->{state}, 'ok', 'a newer one');
is($scripts->ask("$site/app.js", 1, 14, %old), "readCart $site/new.ts:2:3 [  throw 'new.ts';]", '... replaces it');
is($scripts->ask("$site/stays.js", 1, 14, %old), "readCart $site/moved.ts:2:3 [  throw 'moved.ts';]", '... in the release');
is($scripts->ask("$site/stays.js", 1, 14, id => id(3)), "readCart $site/stays.ts:2:3 [  throw 'stays.ts';]",
    '... but not what has another id');
is($scripts->upload(bundle({%old}, pair('third', 'third.ts')), version => '2.0')->{state}, 'ok', 'one without that file');
is($scripts->ask("$site/app.js", 1, 14, %old), "readCart $site/new.ts:2:3 [  throw 'new.ts';]", '... leaves the older file');

# the file with this id was there; in its new release it replaces another file
is($scripts->upload(bundle({ release => '3.0' }, pair('app', 'three.ts')), version => '3.0')->{state}, 'ok', 'a file of a release');
is($scripts->upload(bundle({ release => '3.0' }, 'a.js' => { type => 'minified_source', url => '~/static/app.js', id => id(1),
    text => "$text\n//# sourceMappingURL=app.js.map\n" }, 'a.js.map' => { type => 'source_map', id => id(1),
    url => '~/static/app.js.map', text => map_of('cart.ts') }), version => '3.0')->{state}, 'ok', '... and one that is there by its id');
is($scripts->ask("$site/app.js", 1, 14, release => '3.0'), "readCart $site/cart.ts:2:3 [  throw 'cart.ts';]", '... replaces it');

# --- more files than are placed together; the last one is not used ---

my %many = map { pair("many$_", "many$_.ts", id => id(100 + $_)) } 1 .. 70;
is($scripts->upload(bundle({}, %many, 'z.ts' => { type => 'source', url => '~/z.ts', text => 'x' }))->{state}, 'ok', 'many files');
is_deeply([ map { $scripts->ask("$site/many$_.js", 1, 14, id => id(100 + $_)) } 1 .. 70 ],
    [ map {"readCart $site/many$_.ts:2:3 [  throw 'many$_.ts';]"} 1 .. 70 ], '... all answer');

# --- one file fails, others are placed with it ---

my $loop = "$t->{dir}/symbols/0c/0ffee00000400080000000000000c8";
symlink $loop, $loop or die;
my $half = bundle({}, pair('bad', 'bad.ts', id => id(0xc8)), pair('good', 'good.ts', id => id(0xc9)));
like($scripts->upload($half)->{error}, qr/Too many levels of symbolic links/, 'a file cannot be placed: the answer says why');
unlink $loop or die;
is($scripts->upload($half)->{state}, 'ok', '... the next try places it');
is($scripts->ask("$site/bad.js", 1, 14, id => id(0xc8)), "readCart $site/bad.ts:2:3 [  throw 'bad.ts';]", '... and it answers');

# --- sources that are not in the map ---

is($scripts->upload(bundle({ release => '4.0' },
    'a.js' => { type => 'minified_source', url => "$site/a.js", text => $text },
    'a.js.map' => { type => 'source_map', url => "$site/a.js.map", text => map_of('src/a.ts', sourcesContent => undef) },
    'a.ts' => { type => 'source', url => "$site/src/a.ts", text => "one\ntwo\n" }), version => '4.0')->{state}, 'ok',
    'a source of its own, complete URLs');
is($scripts->ask("$site/a.js", 1, 14, release => '4.0'), "readCart $site/src/a.ts:2:3 [two]", '... gives the line');

# --- an older client names the release in the path ---

$bytes = bundle({ release => '5/0' =~ tr{/}{.}r }, pair('app', 'five.ts'));
$scripts->send_chunks($bytes);
is($scripts->assemble({ checksum => sha1_hex($bytes), chunks => [ sha1_hex($bytes) ] },
    '/api/0/organizations/o/releases/5.0/assemble/')->{state}, 'ok', 'a release in the path');
is($scripts->ask("$site/app.js", 1, 14, release => '5.0'), "readCart $site/five.ts:2:3 [  throw 'five.ts';]", '... answers');

# --- what is refused ---

my %ask = (checksum => 'ab' x 20, chunks => [], projects => [1]);
for (['You need to specify at least one project', %ask, projects => []],
    ['You need to specify a release together with a dist', %ask, dist => '1'],
    ['a checksum that is no SHA-1 in lower case', %ask, checksum => 'AB' x 20],
    ['a file without its name or its chunks', %ask, checksum => undef])
{
    my ($why, %body) = @$_;
    is_deeply([ $scripts->assemble(\%body), $scripts->{status} ], [ { error => $why }, 400 ], "400: $why");
}
is_deeply([ $scripts->assemble('{'), $scripts->{status} ], [ { error => 'Invalid json body' }, 400 ], '400: no JSON');
is_deeply([ @{ $scripts->assemble(\%ask) }{qw(state missingChunks)} ], [ 'not_found', [] ], 'no chunks');

for (['no zip', "SYSB\2\0\0\0no zip at all", qr/zip/],
    ['no bundle', 'something', qr/not a bundle/],
    ['nothing to find a file by', bundle({}, pair('app', 'x.ts')), qr/no debug id, and no path in a release/],
    ['another type', bundle({ release => '6.0' }, x => { type => 'indexed_ram_bundle', url => '~/x', text => 'x' }), qr/type/])
{
    my ($what, $wrong, $why) = @$_;
    $got = $scripts->upload($wrong);
    is($got->{state}, 'error', $what);
    like($got->{detail}, $why, '... says why');
}
my $wrong = bundle({}, pair('app', 'x.ts', id => id(9)));
$got = do { $scripts->send_chunks($wrong); $scripts->assemble({ %{ SymScripts::request_of($wrong) }, checksum => 'cd' x 20 }) };
is_deeply([ @$got{qw(state detail)} ], [ 'error', 'Reported checksum mismatch' ], 'chunks of another file');
is($scripts->upload($wrong)->{state}, 'ok', '... after which the right one is taken');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
