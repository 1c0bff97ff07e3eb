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
            symbolicate debuginfod;
            symbolicate_proxy on size=1m;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source builds uri=/builds/ layout=native;
            symbolicate_source net uri=/src/ layout=debuginfod;
        }
        location /off/ {
            symbolicate debuginfod;
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

for my $path ("$missing/debuginfo", "$id/source/app.c", "$id/section/.debug_info",
              "$id/", $id, '', "$id/debuginfo/", 'x/debuginfo', '/debuginfo',
              "${id}1/debuginfo", 'a' x 200 . '/debuginfo', "..%2f$id/debuginfo",
              "%2e%2e/debuginfo", "$id%00/debuginfo" =~ s/%00//r . 'x')
{
    my $r = $t->request('GET', "/buildid/$path");
    is($r->{status}, 404, "nothing: $path");
}
is($t->request('GET', '/metadata?key=file&value=a')->{status}, 404, 'no /metadata');
is($t->request('GET', "/off/buildid/$id/debuginfo")->{status}, 404,
   'off without symbolicate_proxy');
is($t->request('POST', "/buildid/$id/debuginfo")->{status}, 405, 'a POST');

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

like($t->request('GET', '/metrics')->{body},
     qr/^symbolicate_requests_total\{[^}]*dialect="debuginfod",version="buildid"/m,
     'requests are counted');
is($t->end, '', 'nothing is wrong');
done_testing();
