#!/usr/bin/perl

# Maps that debug files need come by sentry-cli, too: of the names that Apple's tools hid,
# and of the C# lines of IL2CPP.  They may come before the debug file, with it, or after
# requests have seen the module without them.  A map contains no id, so it is the one
# that the client sends, or that the file's name begins with.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use Digest::SHA qw(sha1_hex);
use File::Copy qw(copy);
use JSON::PP ();
use SymElf qw(output run_ok);
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file write_file);
use SymSentryCli;
use SymUpload;

my $t = SymUpload->new(layout => 'unified', tokens => { ci => { secret => 'ci-secret' } })->start;
my $dir = $t->{dir};
my @to = ('-o', 'org', '-p', 'project', '--wait');

sub cli { return SymSentryCli::run($t, 'ci-secret', @_) }

sub post {
    my ($path, $body) = @_;
    my $r = $t->request('POST', $path, body => JSON::PP::encode_json($body),
        headers => [ Authorization => 'Bearer ci-secret', 'Content-Type' => 'application/json' ]);
    return eval { JSON::PP::decode_json($r->{body}) } // { error => $r->{body} };
}

# --- hidden names ---

my $uuid = '2d10c42f-591d-3265-b147-78ba0868073f';
my $original = 'c8374b6d-6e96-34d8-ae38-efaa5fec424f';
my $symbols = need_fixtures("sentry/symbols/$uuid.plist") =~ s{/[^/]+$}{}r;
my %file = (dsym => "$symbols/$uuid.dwarf-hidden", plist => "$symbols/$uuid.plist",
    map => "$symbols/$original.bcsymbolmap");

sub frame {
    my $r = post('/sentry/symbolicate', {
        modules => [{ type => 'macho', debug_id => $uuid, code_id => $uuid =~ tr/-//dr, image_addr => '0x100000' }],
        stacktraces => [{ frames => [{ instruction_addr => '0x105a75' }] }] });
    my $f = $r->{stacktraces}[0]{frames}[0];
    return join ' ', $f->{function} // '-', ($f->{abs_path} // '-') =~ s{.*/}{}r;
}

my $plain = '-[SentryMessage initWithFormatted:] SentryMessage.m';
my $hidden = '__hidden#0_ __hidden#42_';

sub upload {
    my ($what, @files) = @_;
    my $in = "$dir/in-$what";
    mkdir $in;
    for (@files) {
        my $name = $file{$_} =~ s{.*/}{}r =~ s{\.dwarf-hidden$}{.dSYM}r;
        copy($file{$_}, "$in/$name") or die "$_: $!";
    }
    my ($code, $said) = cli('debug-files', 'upload', @to, $in);
    is($code, 0, "debug-files upload: $what") or diag $said;
    return $said;
}

my $said = upload('all', qw(dsym plist map));
like($said, qr/Uploaded 3 missing/, '... sends the maps, too') or diag $said;
like($said, qr/OK .*\Q$uuid\E .*\Q$uuid\E\.plist/,             '... is told the id of the map of UUIDs') or diag $said;
like($said, qr/OK .*\Q$original\E .*\Q$original\E\.bcsymbolmap/, '... and of the symbol map');
is(frame(), $plain, 'a request gets the names of the app');
my @paths = grep { !m{^\.} } $t->files;
is_deeply(\@paths, [ '2d/10c42f591d3265b14778ba0868073f/debuginfo', '2d/10c42f591d3265b14778ba0868073f/uuidmap',
        'c8/374b6d6e9634d8ae38efaa5fec424f/bcsymbolmap' ], 'all are where the layout has them');
$said = upload('all', qw(dsym plist map));
like($said, qr/Nothing to upload, all files are on the server/, 'the same again: nothing is sent');

# one after the other, with a request after each
sub forget_all {
    $t->loader->stop; # it keeps maps for other modules
    system('rm', '-rf', glob("$dir/symbols/*"), "$dir/symbols/.assembled") == 0 or die;
    $t->loader->run('rm', "Sentry/$_") for uc($uuid =~ tr/-//dr) . '0', uc($original =~ tr/-//dr) . '0';
    $t->loader_start;
    return;
}

for my $order ([qw(dsym plist map)], [qw(map dsym plist)], [qw(plist dsym map)], [qw(dsym map plist)]) {
    forget_all();
    my %there;
    for my $what (@$order) {
        upload("one-$what", $what);
        $there{$what} = 1;
        is(frame(), !$there{dsym} ? '- -' : $there{plist} && $there{map} ? $plain : $hidden,
            "... @$order: a request after $what");
    }
}

# by the path alone, as an archive of Xcode has them
forget_all();
mkdir "$dir/$_" for 'app', 'app/BCSymbolMaps', 'app/dSYMs';
copy($file{dsym}, "$dir/app/dSYMs/Sentry");
copy($file{plist}, "$dir/app/dSYMs/" . uc($uuid) . '.plist');
copy($file{map}, "$dir/app/BCSymbolMaps/" . uc($original) . '.bcsymbolmap');
copy($file{plist}, "$dir/app/Info.plist");
run_ok('sh', '-c', "cd $dir/app && tar czf ../app.tgz .");
my $r;
$t->wait_for(sub { # the worker connects to the daemon again after a pause
    $r = $t->curl(SymUpload->bearer('ci-secret'), '--data-binary', "\@$dir/app.tgz", $t->url('/upload/'));
    $r->{status} != 503;
}, 'an upload after the daemon was restarted');
is_deeply({ map { $_->{file} =~ s{.*/}{}r => $_->{state} } @{ $r->{json}{files} } },
    { Sentry => 'stored', uc($uuid) . '.plist' => 'stored', uc($original) . '.bcsymbolmap' => 'stored', 'Info.plist' => 'refused' },
    'an archive: maps are known by their names') or diag $r->{body};
is(frame(), $plain, '... a request gets the names');

# --- C# lines ---

my $source = "$dir/game";
mkdir $source;
write_file("$source/Game.cpp", "//<source_info:Assets/Player.cs:17>\n" . <<'END');
extern "C" __attribute__((noinline)) int il2cpp_init(const char *name) { return name != 0; }
//<source_info:Assets/Player.cs:40>
extern "C" __attribute__((noinline)) int update(int x) { return x * 7; }
END
mkdir "$dir/game-in";
my $library = "$dir/game-in/libil2cpp.so";
run_ok('gcc', '-x', 'c++', '-g', '-O1', '-shared', '-fPIC', '-Wl,--build-id', '-o', $library, "$source/Game.cpp");
my ($build_id) = output('eu-readelf', '-n', $library) =~ /Build ID: ([0-9a-f]{40})/;
my ($at) = output('nm', $library) =~ /^([0-9a-f]+) T update$/m;
my @guid = unpack 'V v v H4 H12', pack 'H32', $build_id;
my $debug_id = sprintf '%08x-%04x-%04x-%s-%s', @guid;

sub place {
    my (%ids) = @_;
    my $answer = post('/sentry/symbolicate', {
        modules => [{ type => 'elf', code_file => 'libil2cpp.so', image_addr => '0x100000', %ids }],
        stacktraces => [{ frames => [{ instruction_addr => sprintf '0x%x', 0x100001 + hex $at }] }],
        options => { dif_candidates => JSON::PP::false } });
    my $f = $answer->{stacktraces}[0]{frames}[0];
    return join ' ', $f->{function} // '-', ($f->{abs_path} // '-') =~ s{.*/(?=Assets|Game)}{}r, $f->{lineno} // '-';
}

my $code;
($code, $said) = cli('debug-files', 'upload', @to, "$dir/game-in");
is($code, 0, 'a library of Unity') or diag $said;
is(place(code_id => $build_id), 'update Game.cpp 4', '... has lines of C++');
($code, $said) = cli('debug-files', 'upload', @to, '--il2cpp-mapping', "$dir/game-in");
is($code, 0, '--il2cpp-mapping') or diag $said;
like($said, qr/Uploaded 1 missing/, '... sends the map') or diag $said;
is(place(code_id => $build_id), 'update Assets/Player.cs 40', '... a request by the build id gets C#');
is(place(debug_id => $debug_id), 'update Assets/Player.cs 40', '... and one by the debug id');

# --- files that are none ---

sub assemble {
    my ($text, %more) = @_;
    my $sum = sha1_hex($text);
    my $body = "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"$sum\"\r\n"
        . "Content-Type: application/octet-stream\r\n\r\n$text\r\n--B--\r\n";
    $t->request('POST', '/api/0/organizations/o/chunk-upload/', body => $body,
        headers => [ Authorization => 'Bearer ci-secret', 'Content-Type' => 'multipart/form-data; boundary=B' ]);
    return post('/api/0/projects/o/p/files/difs/assemble/', { $sum => { name => 'x', chunks => [$sum], %more } })->{$sum};
}

my $head = "BCSymbolMap Version: 2.0\n";
for (['{"a.cpp": {"a.cs": {"x": 1}}}', 'not a 32-bit number'], ['{"a', 'not JSON'],
    ['<?xml version="1.0"?><plist version="1.0"><dict/></plist>', 'DBGOriginalUUID'], ["BCSymbolMap Version: 9\n", 'version 2'],
    ['no map at all', 'files are read']) {
    my ($text, $why) = @$_;
    my $got = assemble($text, debug_id => $debug_id);
    is($got->{state}, 'error', "refused: $text");
    like($got->{detail}, qr/\Q$why\E/, '... says why');
}
like(assemble("${head}a\n")->{detail}, qr/files are read/, 'a map without an id');
for my $id ('', 'x', '../../..', "$debug_id-", 'f' x 5000) {
    is(assemble("${head}of " . substr($id, 0, 9) . "\n", debug_id => $id)->{state}, 'error', 'not an id: ' . substr $id, 0, 9);
}
is(assemble("${head}b\n", debug_id => "$debug_id-2")->{state}, 'ok', 'an id with an age');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
