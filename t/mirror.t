#!/usr/bin/perl

# Operators fill a source ahead of need: `symloader mirror` sends the debug packages
# of a repository, or the debug files of a debuginfod, to a server with uploads.
# A package that fails is named and does not stop the rest.  A run that was killed
# continues at the package where it ended.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Copy qw(copy);
use File::Path qw(make_path);
use IO::Socket::INET;
use Test::More;
use Time::HiRes qw(time);

use SymElf qw(output run_ok);
use SymLoader qw(read_file write_file);
use SymPackage;
use SymServer;
use SymTest;
use SymUpload;

my $TOKEN = 'ci-secret';
my $t = SymUpload->new(layout => 'unified')->start;
my $dir = $t->{dir};
my $repo = "$dir/repo";
make_path("$repo/pool/main", "$repo/dists");

# a repository, and a folder of a debuginfod, over HTTP
my $web = SymTest->new->conf(locations => "location / { root $repo; }")->start;
my $url = 'http://' . $web->address;

# --- what there is: programs, their packages, an index by Debian's tool ---

my (%id, %main);
for my $name (qw(alpha beta gamma delta)) {
    write_file("$dir/$name.c", "int $name(int n) { return n * 3; }\nint main(int n, char **v) { (void) v; return $name(n); }\n");
    run_ok('gcc', '-g', '-O0', '-Wl,--build-id', '-o', "$dir/$name", "$dir/$name.c");
    run_ok('objcopy', '--only-keep-debug', "$dir/$name", "$dir/$name.debug");
    ($id{$name}) = output('eu-readelf', '-n', "$dir/$name") =~ /Build ID: ([0-9a-f]{40})/ or die;
    ($main{$name}) = map { /^(\w+) T \Q$name\E$/ ? hex $1 : () } split /\n/, output('nm', "$dir/$name");
}

sub package_of {
    my ($name, %more) = @_;
    my $file = SymPackage->new("$dir/packages/$name", {
        ($id{$name} ? ('usr/lib/debug/.build-id/' . $id{$name} =~ s{^..\K}{/}r . '.debug'
            => read_file("$dir/$name.debug")) : ()), %more,
    }, name => "$name-dbgsym", version => '1.0+b1~rc')->make('deb', 'xz');
    my ($base) = $file =~ m{([^/]+)$};
    copy($file, "$repo/pool/main/$base") or die;
    return "$repo/pool/main/$base";
}

my %deb = map { $_ => package_of($_) } qw(alpha gamma);
# more bytes than a slow run gets before it is killed
$deb{beta} = package_of('beta', 'usr/share/doc/noise' => join '', map { chr rand 256 } 1 .. 300_000);
$deb{cut} = package_of('cut', 'usr/lib/debug/cut.debug' => substr read_file("$dir/alpha.debug"), 0, 2000);

sub make_index {
    my $text = output('sh', '-c', "cd '$repo' && dpkg-scanpackages --multiversion pool 2>/dev/null");
    return write_file("$repo/dists/Packages", $text);
}
make_index();
is(() = read_file("$repo/dists/Packages") =~ /^SHA256: /mg, 4, 'an index of four packages');
run_ok('sh', '-c', "cd '$repo/dists' && xz -k Packages && gzip -k Packages && zstd -q Packages");

sub mirror {
    my (@args) = @_;
    my $token = ref $args[0] ? (shift @args)->{token} : $TOKEN;
    return $t->loader->run({ no_store => 1, env => { SYMBOLICATE_API_KEY => $token } },
        'mirror', '--server', $t->url('/upload/'), @args);
}

sub function_at {
    my ($name) = @_;
    my $r = $t->post_json('/symbolicate/v5', { memoryMap => [[ $name, uc $id{$name} ]],
        stacks => [[[ 0, $main{$name} ]]] });
    return $r->{json}{results}[0]{stacks}[0][0]{function} // 'unknown';
}

sub counts {
    my ($r) = @_;
    return $r->{out} =~ /^(\d+ sent, \d+ same, \d+ refused, \d+ failed, \d+ done before); /m ? $1 : "none: $r->{out}";
}

sub lines { return scalar(() = read_file($_[0]) =~ /\n/g) }

# --- a run that is killed ---

is(function_at('alpha'), 'unknown', 'nothing is there before');
my $state = "$dir/state";
my @http = ('--state', $state, $url, 'dists/Packages.xz');
{
    my $p = $t->loader->start({ no_store => 1, env => { SYMBOLICATE_API_KEY => $TOKEN } },
        'mirror', '--server', $t->url('/upload/'), '--rate', '20k', @http);
    is(readline($p->{out}), "alpha-dbgsym: sent, " . size_of($deb{alpha}) . "\n", 'the first package is sent');
    my $other = mirror(@http);
    is($other->{code}, 1, '... another run with the same state');
    like($other->{err}, qr/\Q$state\E: another process uses this file/, '... is refused');
    kill 'TERM', $p->{pid};
    is($t->loader->wait($p)->{signal}, 15, 'killed in the next one');
}
is(read_file($state), sha256_of($deb{alpha}) . "\n", '... whose state has the first one');

sub size_of {
    my ($file) = @_;
    my $bytes = -s $file;
    return $bytes < 1024 ? "$bytes B" : sprintf '%.1f KiB', $bytes / 1024;
}

sub sha256_of { return (split / /, output('sha256sum', $_[0]))[0] }

# the machine failed while a line was written
open my $torn, '>>', $state or die;
print $torn substr sha256_of($deb{beta}), 0, 20;
close $torn;

my $begun = time;
my $r = mirror('--rate', '150k', @http);
cmp_ok(time - $begun, '>', (-s $deb{beta}) / 150 / 1024 * 0.95, 'the next run takes its time');
is(counts($r), '2 sent, 0 same, 1 refused, 0 failed, 1 done before', '... and sends the rest') or diag $r->{err};
is($r->{code}, 1, '... its exit code tells of the package that was refused');
like($r->{err}, qr/^symloader: cut-dbgsym: status 400: .*\n\z/, '... and names it');
is(lines($state), 3, '... the state has those that the server has') or diag read_file($state);
is(function_at($_), $_, "... $_ is answered") for qw(alpha beta gamma);

$r = mirror('--match', '*[!t]-dbgsym', @http);
is(counts($r), '0 sent, 0 same, 0 refused, 0 failed, 3 done before', 'once more, without the refused one');
is($r->{code}, 0, '... is fine');

# --- other sources ---

for my $index (qw(dists/Packages dists/Packages.gz dists/Packages.zst)) {
    $r = mirror('--match', 'g*', $repo, $index);
    is($r->{code}, 0, "a folder, $index") or diag $r->{err};
    is(counts($r), '0 sent, 1 same, 0 refused, 0 failed, 0 done before', '... the server says what it has');
}
$r = mirror('--quiet', '--match', 'g*', $repo, 'dists/Packages');
like($r->{out}, qr/\A0 sent, 1 same, [^\n]*\n\z/, '--quiet prints the counts alone');

make_path("$repo/flat");
copy($deb{gamma}, "$repo/flat/") or die;
write_file("$repo/flat/Packages", output('sh', '-c', "cd '$repo/flat' && dpkg-scanpackages --multiversion . 2>/dev/null"));
like(read_file("$repo/flat/Packages"), qr{^Filename: \./}m, 'a flat repository');
$r = mirror("$url/flat/", 'Packages');
is(counts($r), '0 sent, 1 same, 0 refused, 0 failed, 0 done before', '... is read') or diag $r->{err};

# --- items that fail ---

{
    my $index = read_file("$repo/dists/Packages");
    my $wrong = $index;
    my $sha256 = sha256_of($deb{alpha});
    $wrong =~ s/^SHA256: \Q$sha256\E$/'SHA256: ' . reverse $sha256/me or die;
    $wrong =~ s{^Filename: \Kpool/main/beta[^\n]*}{pool/main/none.deb}m or die;
    $wrong =~ s{^Package: cut-dbgsym$}{Package: escape}m or die;
    $wrong =~ s{^Filename: \Kpool/main/cut[^\n]*}{../repo/pool/main/cut.deb}m or die;
    write_file("$repo/dists/Wrong", $wrong . "\nPackage: bare\nVersion: 1\n");
    my $broken = "$dir/state.broken";
    $r = mirror('--state', $broken, $url, 'dists/Wrong');
    is($r->{code}, 1, 'wrong entries');
    is(counts($r), '0 sent, 1 same, 0 refused, 4 failed, 0 done before', '... do not stop the others');
    is_deeply([ sort split /\n/, $r->{err} ], [
        'symloader: alpha-dbgsym: its SHA-256 is not that in the index',
        'symloader: bare: the index has no valid path of the package',
        "symloader: beta-dbgsym: $url/pool/main/none.deb: status 404",
        'symloader: escape: the index has no valid path of the package',
    ], '... and are named');
    is(read_file($broken), sha256_of($deb{gamma}) . "\n", '... only those that are done are in the state');

    my $other_size = $index =~ s/^Size: \K(\d+)/$1 + 1/mer;
    write_file("$repo/dists/Wrong", $other_size);
    like(mirror('--match', 'alpha*', $url, 'dists/Wrong')->{err}, qr/alpha-dbgsym: its size is not that in the index/, 'a smaller package');
    $other_size = $index =~ s/^Size: \K(\d+)/$1 - 1/mer;
    write_file("$repo/dists/Wrong", $other_size);
    like(mirror('--match', 'alpha*', $repo, 'dists/Wrong')->{err}, qr/alpha-dbgsym: .*: it is larger than it may be/, 'a larger one');
}

# --- indexes that fail ---

write_file("$repo/dists/Cut.xz", substr read_file("$repo/dists/Packages.xz"), 0, 400);
$r = mirror($repo, 'dists/Cut.xz');
is($r->{code}, 1, 'an index that is cut');
like($r->{err}, qr/^symloader: index: .*xz/m, '... is named');
$r = mirror($url, 'dists/None');
is($r->{code}, 1, 'no index');
like($r->{err}, qr{dists/None: \Q$url\E/dists/None: status 404}, '... is named');
$r = mirror('--max-expanded', '1k', $repo, 'dists/Packages.gz');
is($r->{code}, 1, 'an index beyond --max-expanded');
like($r->{err}, qr/index: .*more than --max-expanded allows/, '... is refused');
$r = mirror('--state', "$repo/dists/Packages", $repo, 'dists/Packages');
is($r->{code}, 1, 'another file as the state');
like($r->{err}, qr/it was not written by this command/, '... is refused');
is(lines("$repo/dists/Packages"), lines_of(make_index()), '... and kept');
sub lines_of { return lines($_[0]) }

# --- servers that fail ---

$r = mirror({ token => 'another' }, $repo, 'dists/Packages');
is($r->{code}, 1, 'a wrong token');
is(counts($r), '0 sent, 0 same, 1 refused, 0 failed, 0 done before', '... ends the run');
like($r->{err}, qr/\Asymloader: alpha-dbgsym: status 401: [^\n]*\n\z/, '... says why');

# a server that answers everything with 200
{
    my $other = SymTest->new->conf(locations => 'location / { return 200 "{}"; }')->start;
    my $untouched = "$dir/state.other";
    $r = $t->loader->run({ no_store => 1 }, 'mirror', '--server', 'http://' . $other->address . '/upload/',
        '--state', $untouched, '--match', 'g*', $repo, 'dists/Packages');
    is($r->{code}, 1, 'another server');
    is(counts($r), '0 sent, 0 same, 0 refused, 1 failed, 0 done before', '... has not taken it');
    like($r->{err}, qr{\Asymloader: gamma-dbgsym: http://\S+/upload/: status 200, but not the answer to an upload\n\z}, '... is named');
    is(-s $untouched // 0, 0, '... and the state has no package');
    is($other->stop->log_trouble, '', '... nothing is wrong there');
}

# a source that takes connections and never answers
{
    my $deaf = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 64) or die;
    my $ids = write_file("$dir/many", join '', map { sprintf "%040x\n", $_ } 1 .. 12);
    $r = mirror('--fetch-timeout', '1s', '--ids', $ids, 'http://127.0.0.1:' . $deaf->sockport);
    is(counts($r), '0 sent, 0 same, 0 refused, 10 failed, 0 done before', 'ten items of a source that does not answer');
    my @said = split /\n/, $r->{err};
    is(scalar grep({/debuginfo: the download takes too long \(--fetch-timeout\)$/} @said), 10, '... fail after the timeout');
    is($said[-1], 'symloader: mirror: 10 failures in a row: no more is tried', '... and end the run');
}

# --- debuginfod ---

for my $name (qw(beta delta)) {
    make_path("$repo/buildid/$id{$name}");
    copy("$dir/$name.debug", "$repo/buildid/$id{$name}/debuginfo") or die;
}
my $none = 'ab' x 20;
my $ids = write_file("$dir/ids", "# of a fleet\n" . uc($id{delta}) . " delta\n\n$none\nxyz\n$id{beta}");
my $id_state = "$dir/state.ids";
is(function_at('delta'), 'unknown', 'a module that no package had');
for my $pass ('1 sent, 1 same, 0 refused, 2 failed, 0 done before', '0 sent, 0 same, 0 refused, 2 failed, 2 done before') {
    $r = mirror('--state', $id_state, '--ids', $ids, "$url/");
    is(counts($r), $pass, 'build ids') or diag $r->{err};
    is($r->{code}, 1, '... of which some fail');
    is($r->{err}, "symloader: $none: $url/buildid/$none/debuginfo: status 404\nsymloader: xyz: not a build id\n",
        '... and are named');
}
is(function_at('delta'), 'delta', '... the other one is answered');
is(read_file($id_state), "$id{delta}\n$id{beta}\n", '... and in the state');

# --- command lines ---

for my $case ([ [$repo], qr/it needs a repository and the path of an index/ ],
    [ [ '--ids', $ids, $repo, 'x' ], qr/--ids needs one operand/ ]) {
    $r = mirror(@{ $case->[0] });
    is($r->{code}, 2, "wrong: @{ $case->[0] }");
    like($r->{err}, $case->[1], '... says why');
}
$r = $t->loader->run({ no_store => 1 }, 'mirror', $repo, 'x');
is($r->{code}, 2, 'no server');
like($r->{err}, qr/it needs --server URL/, '... is named');

is($web->allow(qr/open\(\) ".*" failed/)->stop->log_trouble, '', 'nothing is wrong at the source');
is($t->end, '', '... and at the target');
done_testing();
