#!/usr/bin/perl

# Debuggers ask a debuginfod server for source files, by a build id and the path that
# the debug file has.  We have them from source bundles, from folders, and from other
# debuginfod servers.  gdb shows the lines and the text of a program whose debug file
# and sources are only with us.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path remove_tree);
use JSON::PP ();
use Test::More;

use SymDebuginfod;
use SymElf qw(output run_ok);
use SymFetch;
use SymFixtures qw(need_fixtures);
use SymLoader qw(read_file write_file);

my $fixtures = need_fixtures('sourcebundles');
my $dir = SymElf::folder();

# Sentry's bundle of an ELF file, by the file's build id.
my $BUNDLED = '7f883fcdc55336d0a809b0150f09500b';
my $bundle = "$fixtures/883fcdc55336d0a809b0150f09500b.src.zip";
make_path("$dir/bundles/7f");
run_ok('cp', $bundle, "$dir/bundles/7f/" . substr($BUNDLED, 2) . '.src.zip');
my %text = do {
    open my $zip, '-|', 'python3', '-c', <<'END', $bundle or die "python3: $!";
import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
files = json.loads(z.read('manifest.json'))['files']
json.dump({file['path']: z.read(name).decode('latin-1') for name, file in files.items()
           if file.get('type') == 'source'}, sys.stdout)
END
    local $/;
    my $json = <$zip>;
    close $zip or die 'python3 cannot read the bundle';
    %{ JSON::PP->new->latin1->decode($json) };
};

# A bundle with paths of other forms, and files that are no sources.
sub make_bundle {
    my ($id, %files) = @_;
    my $file = "$dir/bundles/" . substr($id, 0, 2) . '/' . substr($id, 2) . '.src.zip';
    my $n = 0;
    my %entry = map { 'f' . $n++ => { %{ $files{$_} }, path => $_ } } sort keys %files;
    make_path($file =~ s{/[^/]*$}{}r);
    write_file("$dir/entries", JSON::PP::encode_json(\%entry));
    run_ok('python3', '-c', <<'END', $file, "$dir/entries");
import json, sys, zipfile
entries = json.load(open(sys.argv[2]))
texts = {name: file.pop('text') for name, file in entries.items()}
open(sys.argv[1], 'wb').write(b'SYSB' + b'\2\0\0\0')
with zipfile.ZipFile(sys.argv[1], 'a', zipfile.ZIP_DEFLATED) as z:
    z.writestr('manifest.json', json.dumps({
        'debug_id': '0' * 32, 'files': entries}))
    for name, text in texts.items():
        z.writestr(name, text)
END
    return;
}
my $odd = 'ab' x 20;
make_bundle($odd,
    '/b/sub/../dots.c' => { type => 'source', text => 'dots' },
    '/b/with space+plus%20and#.c' => { type => 'source', text => 'signs' },
    '/b/empty.c' => { type => 'source', text => '' },
    '/b/app.min.js' => { type => 'minified_source', text => 'script' },
    '../../etc/passwd' => { type => 'source', text => 'outside' },
    '/b/MSCF.c' => { type => 'source', text => 'MSCF is how a cabinet begins' });
my $damaged = 'da' x 20;
make_path("$dir/bundles/da");
write_file("$dir/bundles/da/" . 'da' x 19 . '.src.zip', substr read_file($bundle), 0, 3000);

# A program that is built in /usr/src/demo.
make_path("$dir/demo/lib");
write_file("$dir/demo/lib/sum.h", <<'END');
static inline __attribute__((always_inline)) int
twice(int n)
{
    return n + n;
}
END
write_file("$dir/demo/main.c", <<'END');
#include "lib/sum.h"

__attribute__((noinline)) void
fails(int n)
{
    if (twice(n) == 6) {
        __builtin_trap(); /* the line where it ends */
    }
}

int
main(int argc, char **argv)
{
    fails(argc);
    return argv[0] == 0;
}
END
run_ok('sh', '-c', "cd '$dir/demo' && gcc -g -O1 -Wl,--build-id=sha1"
       . " -fdebug-prefix-map='$dir/demo'=/usr/src/demo -o ../whole main.c");
run_ok('strip', '-o', "$dir/app", "$dir/whole");
my ($id) = output('eu-readelf', '-n', "$dir/app") =~ /Build ID: ([0-9a-f]{40})/;
make_path(map {"$dir/$_"} 'exact/' . $id . '/source/usr/src', 'tree/usr/src');
run_ok('objcopy', '--only-keep-debug', "$dir/whole", "$dir/exact/$id/debuginfo");
run_ok('cp', '-r', "$dir/demo", "$dir/exact/$id/source/usr/src/demo");
make_path("$dir/tree/usr/src/demo/lib");
write_file("$dir/tree/usr/src/demo/main.c", 'a tree that has no build ids');
write_file("$dir/tree/usr/src/demo/other.c", 'of any build');
write_file("$dir/secret", 'a secret text');

# Another server, whose sources are where the program was built.
make_path("$dir/files");
write_file("$dir/files/far.c", "int main(void) { return 0; }\n");
run_ok('sh', '-c', "cd '$dir/files' && gcc -g -Wl,--build-id=sha1 -o far far.c");
my ($far) = output('eu-readelf', '-n', "$dir/files/far") =~ /Build ID: ([0-9a-f]{40})/;
my $server = SymDebuginfod->new("$dir/files")->start($far);
my $address = $server->address;

my $t = SymFetch->new;
my $ON = 'symbolicate files; symbolicate_proxy on size=8m; symbolicate_loader unix:%%LOADER%%;';
$t->conf(locations => <<"CONF");
        location / {
            $ON
            symbolicate_source bundles uri=/bundles/ layout=native;
            symbolicate_source exact uri=/exact/ layout=debuginfod;
            symbolicate_source tree uri=/tree/ layout=site kinds=source;
            symbolicate_source far uri=/far/ layout=debuginfod;
        }
        location /tree-only/ {
            $ON
            symbolicate_source tree uri=/tree/ layout=site kinds=source;
        }
        location /net/ {
            $ON
            symbolicate_source net uri=/src/ layout=debuginfod;
        }
        location /bundles/ { internal; alias $dir/bundles/; log_not_found off; }
        location /exact/ { internal; alias $dir/exact/; log_not_found off; }
        location /tree/ { internal; alias $dir/tree/; log_not_found off; }
        location /far/ { internal; proxy_pass http://$address/buildid/; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
CONF
$t->fault->script('src', 'ok');
$t->start;

sub get { return $t->request('GET', @_) }

sub same {
    my ($path, $bytes, $what) = @_;
    my $r = get("/buildid/$path");
    is($r->{status}, 200, "$what: $path");
    ok($r->{body} eq $bytes, '... its bytes') or diag(substr $r->{body}, 0, 200);
    return;
}

# --- bundles ---

ok(%text > 0, 'the bundle has sources');
same("$BUNDLED/source$_", $text{$_}, 'a bundle') for grep {m{^/}} sort keys %text;
same("$odd/source/b/dots.c", 'dots', 'a path that the bundle spells with dots');
same("$odd/source/b/x/..//dots.c", 'dots', '... that the client spells so');
same("$odd/source/b/with%20space%2Bplus%2520and%23.c", 'signs', 'an encoded path');
same("$odd/source/b/MSCF.c", 'MSCF is how a cabinet begins', 'a text is never unpacked');

for my $path ("$odd/source/b/empty.c", "$odd/source/b/app.min.js", "$odd/source/b/none.c",
              "$odd/source/etc/passwd", "$odd/source/", "$odd/source", "$damaged/source/b/dots.c",
              'cd' x 20 . '/source/b/dots.c', "$id/source/usr/src/demo/lib",
              "$id/source/usr/src/demo/lib/", "$id/source/../none", "$id/source/..%2f..%2fdebuginfo",
              "$id/source/../../../secret", "$id/source/..%2f..%2f..%2fsecret",
              "$id/source/usr/src/demo/main.c%5c..%5cx", "$id/source/usr/src/demo/%01",
              "$id/source/" . 'a' x 7_000, "$id/source/" . 'a/' x 2_000 . 'x')
{
    my $r = get("/buildid/$path");
    is($r->{status}, 404, 'nothing: ' . substr $path, 0, 90);
    unlike($r->{body}, qr/a secret text|ELF/, '... at all');
}
is(get("/buildid/$id/source/a%00b")->{status}, 400, 'a NUL');
is(get("/buildid/$id/source/" . 'a' x 10_000)->{status}, 414, 'a path longer than requests are');

# --- folders ---

same("$id/source/usr/src/demo/main.c", read_file("$dir/demo/main.c"), 'the build id comes first');
same("$id/source/usr/src/demo/lib/../main.c", read_file("$dir/demo/main.c"), '... with dots');
same("$id/source/usr/src/demo/other.c", 'of any build', 'a tree without build ids');
is(get("/tree-only/buildid/$id/source/usr/src/demo/main.c")->{body}, 'a tree that has no build ids',
   '... alone');
is(get("/tree-only/buildid/$id/debuginfo")->{status}, 404, '... has nothing else');

# --- another server ---

same("$far/source$dir/files/far.c", read_file("$dir/files/far.c"), 'another debuginfod server');
$t->fault->script('src', 'status/503');
eval { get("/net/buildid/$far/source/x.c") };
like($t->error_log, qr/a file could not be fetched: .*503/, 'a failure resets the connection');
$t->fault->script('src', 'ok')->forget;
$t->fault->file("$far/source/b/with space+plus%.c", 'far');
is(get("/net/buildid/$far/source/b/with%20space%2bplus%25.c")->{body}, 'far', 'an encoded path');

# --- headers ---

{
    my $r = get("/buildid/$id/source/usr/src/demo/main.c");
    is($r->{headers}{'x-debuginfod-size'}, -s "$dir/demo/main.c", 'the size');
    is($r->{headers}{'cache-control'}, 'public', 'any cache may keep it');
    is(get("/buildid/$id/source/usr/src/demo/none.c")->{headers}{'cache-control'}, 'no-cache',
       'absence is not kept');
}

# --- clients ---

my $url = 'http://' . $t->address;

sub client {
    my ($cache, @command) = @_;
    make_path("$dir/$cache");
    my $text = join ' ', map {"'" . s/'/'\\''/gr . "'"} @command;
    my $out = qx(cd '$dir' && env DEBUGINFOD_URLS='$url' DEBUGINFOD_CACHE_PATH='$dir/$cache' DEBUGINFOD_TIMEOUT=300 HOME='$dir' $text 2>&1);
    return { code => $? >> 8, out => $out };
}

for my $case ([$id, '/usr/src/demo/lib/sum.h', "$dir/demo/lib/sum.h"],
              [$id, '/usr/src/demo/./lib/../main.c', "$dir/demo/main.c"],
              [$far, "$dir/files/far.c", "$dir/files/far.c"])
{
    my ($build_id, $path, $want) = @$case;
    my $r = client('found', 'debuginfod-find', 'source', $build_id, $path);
    is($r->{code}, 0, "debuginfod-find source $path") or diag($r->{out});
    ok(read_file($r->{out} =~ s/\n\z//r) eq read_file($want), '... its bytes') if $r->{code} == 0;
}
is(client('found', 'debuginfod-find', 'source', $id, '/usr/src/demo/none.c')->{code}, 1,
   '... one that no source has');

# the sources are gone where the program was built
remove_tree("$dir/demo");
my @gdb = ('gdb', '-nx', '-batch', '-ex', 'run a b', '-ex', 'backtrace', '-ex', 'list');
my $r = client('gdb', @gdb[0 .. 2], '-iex', 'set debuginfod enabled on', @gdb[3 .. $#gdb], "$dir/app");
like($r->{out}, qr/^#0 .* fails \(n=.*\) at main\.c:7\n#1 .* in main \(.*\) at main\.c:14$/m,
     'gdb: a backtrace with lines') or diag($r->{out});
like($r->{out}, qr{^7\s+__builtin_trap\(\); /\* the line where it ends \*/$}m, '... and the text of a line')
    or diag($r->{out});
$r = client('nothing', @gdb[0 .. 2], '-iex', 'set debuginfod enabled off', @gdb[3 .. $#gdb], "$dir/app");
unlike($r->{out}, qr/main\.c/, '... of which it has none by itself');
like($r->{out}, qr/SIGILL/, '... though it runs');

$server->stop;
is($t->end, '', 'nothing is wrong');
done_testing();
