#!/usr/bin/perl

# Debuggers fetch debug files from us as from a debuginfod server: gdb shows the
# lines of a stripped program, and elfutils' client finds both files of a build
# id.  Clients remember every error for ten minutes, so a failure of a source must
# not look like a file that does not exist.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use Test::More;

use SymElf qw(output run_ok);
use SymFetch;
use SymLoader qw(read_file write_file);

my $dir = SymElf::folder();
my $builds = "$dir/builds";

write_file("$dir/app.c", <<'END');
#include <stdlib.h>

__attribute__((noinline)) int
sum(const char *a, const char *b)
{
    return atoi(a) + atoi(b);
}

int
main(int argc, char **argv)
{
    return argc > 2 ? sum(argv[1], argv[2]) : 0;
}
END

run_ok('gcc', '-g', '-O1', '-Wl,--build-id=sha1', '-o', "$dir/whole", "$dir/app.c");
run_ok('strip', '-o', "$dir/app", "$dir/whole");
my ($id) = output('eu-readelf', '-n', "$dir/app") =~ /Build ID: ([0-9a-f]{40})/;
my $place = "$builds/" . substr($id, 0, 2) . '/' . substr($id, 2);
make_path($place =~ s{/[^/]*$}{}r);
run_ok('objcopy', '--only-keep-debug', "$dir/whole", "$place.debug");
run_ok('cp', "$dir/app", $place);

my $t = SymFetch->new;
my $missing = 'ab' x 20;
my $failing = 'cd' x 20;
$t->conf(locations => <<"CONF");
        location / {
            symbolicate files;
            symbolicate_proxy on size=1m;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source builds uri=/builds/ layout=native;
            symbolicate_source net uri=/src/ layout=debuginfod;
        }
        location /alone/ {
            symbolicate files;
            symbolicate_proxy on size=1m;
            symbolicate_source builds uri=/builds/ layout=native;
        }
        location /off/ {
            symbolicate files;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source builds uri=/builds/ layout=native;
        }
        location /builds/ { internal; alias $builds/; log_not_found off; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /metrics { symbolicate_metrics; }
CONF
$t->fault->script('src', 'ok');
$t->start;

# --- paths ---

my %want = (debuginfo => read_file("$place.debug"), executable => read_file($place));
for my $type (sort keys %want) {
    for my $path ("/buildid/$id/$type", "/buildid/\U$id\E/$type") {
        my $r = $t->request('GET', $path);
        is($r->{status}, 200, "GET $path");
        ok($r->{body} eq $want{$type}, '... all its bytes');
    }
    my $r = $t->request('HEAD', "/buildid/$id/$type");
    is($r->{headers}{'content-length'}, length $want{$type}, '... length by HEAD');
}

for my $path ("$missing/debuginfo", "$missing/section/.text", "$id/section/.none",
              "$id/section/", "$id/section/a/b", "$id/section/" . 'a' x 300,
              "$id/", $id, '', "$id/debuginfo/", 'x/debuginfo', '/debuginfo',
              "${id}1/debuginfo", 'a' x 200 . '/debuginfo', "..%2f$id/debuginfo",
              "%2e%2e/debuginfo", "$id%00/debuginfo" =~ s/%00//r . 'x')
{
    my $r = $t->request('GET', "/buildid/$path");
    is($r->{status}, 404, "nothing: $path");
}
is($t->request('GET', "/off/buildid/$id/debuginfo")->{status}, 404,
   'off without symbolicate_proxy');
is($t->request('POST', "/buildid/$id/debuginfo")->{status}, 405, 'a POST');

# --- sections ---

# The file's bytes, from the file that has them.
for my $name ('.debug_info', '.debug_line', '.text', '.note.gnu.build-id') {
    my $from = $name =~ /debug/ ? "$place.debug" : $place;
    run_ok('objcopy', '--dump-section', "$name=$dir/section", $from, '/dev/null');
    my $r = $t->request('GET', "/buildid/$id/section/$name");
    is($r->{status}, 200, "section $name");
    ok($r->{body} eq read_file("$dir/section"), '... its bytes');
    is($r->{headers}{'x-debuginfod-size'}, -s "$dir/section", '... their number');
}

# --- an executable with debug information ---

# It is the debug file, too, if there is no other; a stripped one is not.
{
    my %file = ('fa' x 20 => "$dir/whole", 'fb' x 20 => "$dir/app");
    for my $whole (sort keys %file) {
        make_path("$builds/" . substr $whole, 0, 2);
        run_ok('cp', $file{$whole}, "$builds/" . substr($whole, 0, 2) . '/' . substr $whole, 2);
    }
    my $r = $t->request('GET', '/buildid/' . 'fa' x 20 . '/debuginfo');
    is($r->{status}, 200, 'an executable with debug information is the debug file');
    ok($r->{body} eq read_file("$dir/whole"), '... its bytes');
    ok($r->{headers}{etag} eq $t->request('GET', '/buildid/' . 'fa' x 20 . '/executable')->{headers}{etag},
       '... and its ETag');
    is($t->request('GET', '/buildid/' . 'fb' x 20 . '/debuginfo')->{status}, 404, 'a stripped one is not');

    my $packed = "$builds/fc/" . 'fc' x 19;
    make_path("$builds/fc");
    run_ok('sh', '-c', "zstd -qc '$dir/whole' > '$packed'");
    $r = $t->request('GET', '/buildid/' . 'fc' x 20 . '/debuginfo');
    ok($r->{body} eq read_file("$dir/whole"), 'one that is packed comes unpacked');
    run_ok('sh', '-c', "zstd -qfc '$dir/app' > '$packed'");
    is($t->request('GET', '/buildid/' . 'fc' x 20 . '/debuginfo')->{status}, 404, '... a stripped one');

    # without a loader nobody can look
    is($t->request('GET', '/alone/buildid/' . 'fa' x 20 . '/debuginfo')->{status}, 404,
       'without a loader it is not found');
    is($t->request('GET', '/alone/buildid/' . 'fa' x 20 . '/executable')->{status}, 200,
       '... as a debug file');
}

# --- headers ---

{
    my $path = "/buildid/$id/debuginfo";
    my $r = $t->request('GET', $path);
    my $size = -s "$place.debug";
    my $etag = $r->{headers}{etag};

    is($r->{headers}{'x-debuginfod-size'}, $size, 'the size');
    is($r->{headers}{'x-debuginfod-file'}, substr($id, 0, 2) . '/' . substr($id, 2) . '.debug',
       'the path at its source');
    is($r->{headers}{'cache-control'}, 'public', 'any cache may keep it');
    is($r->{headers}{'accept-ranges'}, 'bytes', 'ranges are possible');
    ok($r->{headers}{'last-modified'}, 'the date');
    $r = $t->request('GET', $path, headers => ['Authorization', 'Basic Zm9vOmJhcg==']);
    is($r->{headers}{'cache-control'}, 'private', '... what only some may read');
    $r = $t->request('GET', $path, headers => ['If-None-Match', $etag]);
    is($r->{status}, 304, 'the client has it');
    is($r->{body}, '', '... and gets nothing');
    $r = $t->request('GET', $path, headers => ['If-None-Match', '"other"']);
    is($r->{status}, 200, '... another one');
    $r = $t->request('GET', $path, headers => ['Range', 'bytes=100-199']);
    is($r->{status}, 206, 'a range');
    is($r->{headers}{'content-range'}, "bytes 100-199/$size", '... which');
    is($r->{body}, substr($want{debuginfo}, 100, 100), '... its bytes');
    $r = $t->request('GET', $path, headers => ['Range', "bytes=$size-"]);
    is($r->{status}, 416, 'a range after the end');
    is($r->{headers}{'content-range'}, "bytes */$size", '... the size');
    $r = $t->request('GET', $path, headers => ['Range', 'bytes=0-9', 'If-Range', '"other"']);
    is($r->{status}, 200, 'a range of another file');
    $r = $t->request('GET', $path, headers => ['X-DEBUGINFOD-MAXSIZE', $size]);
    is($r->{status}, 200, 'a limit that it meets');
    $r = $t->request('GET', $path, headers => ['X-DEBUGINFOD-MAXSIZE', $size - 1]);
    is($r->{status}, 406, '... that it does not meet');
    $r = $t->request('GET', "/buildid/$missing/debuginfo");
    is($r->{headers}{'cache-control'}, 'no-cache', 'absence is not kept');
}

# a file from the network would be fetched again for the next range
{
    my $remote = 'ba' x 20;
    $t->fault->file("$remote/debuginfo", 'x' x 1000);
    my $r = $t->request('GET', "/buildid/$remote/debuginfo", headers => ['Range', 'bytes=0-9']);
    is($r->{status}, 200, 'the beginning of a file from the network: all of it');
    $r = $t->request('GET', "/buildid/$remote/debuginfo", headers => ['Range', 'bytes=10-29']);
    is($r->{status}, 206, '... another part');
    is(length $r->{body}, 20, '... its bytes');
}

# --- packed files ---

for my $packer (['gzip', '-9c'], ['zstd', '-qc'], ['xz', '-c']) {
    my $packed = sprintf '%02x' x 20, map { ord } split //, substr "$packer->[0]" x 20, 0, 20;
    my $file = "$builds/" . substr($packed, 0, 2) . '/' . substr($packed, 2) . '.debug';
    make_path($file =~ s{/[^/]*$}{}r);
    run_ok('sh', '-c', "@$packer '$place.debug' > '$file'");
    my $r = $t->request('GET', "/buildid/$packed/debuginfo");
    is($r->{status}, 200, "a file that is packed by $packer->[0]");
    ok($r->{body} eq $want{debuginfo}, '... comes unpacked') or diag(length $r->{body});
    next if $packer->[0] ne 'gzip';
    $r = $t->request('GET', "/buildid/$packed/debuginfo",
                     headers => ['Accept-Encoding', 'deflate, gzip']);
    is($r->{headers}{'content-encoding'}, 'gzip', '... or as it is, to those who can unpack');
    ok($r->{body} eq read_file($file), '... its bytes');
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

sub find {
    my ($cache, $type, $build_id) = @_;
    return client($cache, 'debuginfod-find', $type, $build_id);
}

for my $type (sort keys %want) {
    my $r = find('found', $type, $id);
    is($r->{code}, 0, "debuginfod-find $type");
    ok(read_file($r->{out} =~ s/\n\z//r) eq $want{$type}, '... the file') if $r->{code} == 0;
}
is(find('none', 'debuginfo', $missing)->{code}, 1, 'a build id that no source has');

# a failure is not remembered
$t->fault->script('src', 'status/503');
my $r = find('fails', 'debuginfo', $failing);
is($r->{code}, 1, 'a source fails');
$t->fault->script('src', 'ok');
$t->fault->file("$failing/debuginfo", 'a file');
$r = find('fails', 'debuginfo', $failing);
is($r->{code}, 0, '... and is asked again at once') or diag($r->{out});
like($t->error_log, qr/a file could not be fetched: .*503/, '... the log has the reason');

$t->fault->file('ef' x 20 . '/debuginfo', 'x' x (2 << 20));
is(find('large', 'debuginfo', 'ef' x 20)->{code}, 1, 'a file that is too large');

my @gdb = ('gdb', '-nx', '-batch', '-iex', 'set debuginfod enabled on');
$r = client('gdb', @gdb, '-ex', 'info line sum', "$dir/app");
like($r->{out}, qr/^Line \d+ of ".*app\.c" starts at address/m, 'gdb knows the lines')
    or diag($r->{out});
$r = client('nothing', @gdb[0 .. 2], '-iex', 'set debuginfod enabled off',
            '-ex', 'info line sum', "$dir/app");
unlike($r->{out}, qr/app\.c/, '... and none by itself');

# elfutils and LLVM have clients of their own
my ($address) = output('nm', "$dir/whole") =~ /^0*([0-9a-f]+) T sum$/m;
$r = client('elfutils', 'eu-addr2line', '-f', '-e', "$dir/app", "0x$address");
like($r->{out}, qr/^sum\n\S*app\.c:\d+/m, 'eu-addr2line knows the lines') or diag($r->{out});
$r = client('llvm', 'llvm-symbolizer', "--obj=$dir/app", "0x$address");
like($r->{out}, qr/^sum\n\S*app\.c:\d+/m, 'llvm-symbolizer knows the lines') or diag($r->{out});

like($t->request('GET', '/metrics')->{body},
     qr/^symbolicate_requests_total\{[^}]*dialect="files",version="buildid"/m,
     'requests are counted');
is($t->end, '', 'nothing is wrong');
done_testing();
