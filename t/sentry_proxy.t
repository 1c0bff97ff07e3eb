# Sentry's API serves symbol files of its sources to clients if the
# configuration says so: unchanged, with a limit, and nothing else.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path);
use SymFetch;
use SymLoader qw(write_file);
use Test::More;

my $SOURCES = <<'CONF';
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source net uri=/src/ layout=symstore;
            symbolicate_source disk uri=/disk/ layout=symstore;
CONF

my $t = SymFetch->new;
$t->conf(locations => <<"CONF");
        location / {
            symbolicate sentry;
            symbolicate_proxy on files=2 size=6m;
$SOURCES
        }
        location /off/ {
            symbolicate sentry;
$SOURCES
        }
        location /none/ { symbolicate sentry; symbolicate_proxy on; }
        location /other/ {
            symbolicate sentry;
            symbolicate_proxy on files=1 size=6m;
            sendfile on;
            symbolicate_loader unix:%%LOADER%%;
            symbolicate_source given uri=/src/ layout=symstore path=*.dll;
            symbolicate_source net uri=/src/ layout=symstore;
        }
        location /src/ {
            internal;
            proxy_pass http://%%FAULT%%/as/src/;
        }
        location /disk/ { internal; alias %%DIR%%/disk/; log_not_found off; }
        location /metrics { symbolicate_metrics; }
CONF
$t->fault->script('src', 'ok');
$t->start;

my $GUID = '0123456789ABCDEF0123456789ABCDEF';
my $BUILD_ID = '180a373d6afbabf0eb1f09be1bc45bd796a71085';
my $UUID = lc $GUID;

# Bytes of no known format.
sub bytes_of {
    my ($size) = @_;
    return substr join('', map { pack 'N', $_ * 2654435761 % 4294967296 }
        1 .. $size / 4 + 1), 0, $size;
}

sub on_disk {
    my ($path, $bytes) = @_;
    make_path($t->dir . '/disk/' . $path =~ s{/[^/]*\z}{}r);
    write_file($t->dir . "/disk/$path", $bytes);
    return;
}

sub get {
    my ($path, %o) = @_;
    return $t->request($o{method} // 'GET', ($o{at} // '') . "/proxy/$path");
}

# --- every kind of path ---

# [path at the source, requested path]
my @files = (
    ["a.pdb/${GUID}1/a.pdb", "a.pdb/${GUID}1/a.pdb"],
    ["b.pdb/${GUID}ffffffff/b.pdb", "b.pdb/" . lc($GUID) . 'FFFFFFFF/B.PDB'],
    ['a.exe/542D574Ec2000/a.exe', 'a.exe/542d574ec2000/a.exe'],
    ['a.dll/542D574Ec2000/a.dll', 'a.dll/542D574EC2000/A.dll'],
    ["a.so/elf-buildid-$BUILD_ID/a.so", "a.so/ELF-buildid-$BUILD_ID/a.so"],
    ["_.debug/elf-buildid-sym-$BUILD_ID/_.debug",
        "x.debug/elf-buildid-sym-\U$BUILD_ID\E/x.Debug"],
    ["a.dylib/mach-uuid-$UUID/a.dylib", "a.dylib/mach-uuid-$GUID/a.dylib"],
    ["_.dwarf/mach-uuid-sym-$UUID/_.dwarf",
        "_.dwarf/mach-uuid-sym-$UUID/_.dwarf"],
);
for my $i (0 .. $#files) {
    my ($place, $path) = @{$files[$i]};
    my $bytes = bytes_of(1000 + $i);

    on_disk($place, $bytes);
    my $r = get($path);
    is($r->{status}, 200, "GET $path");
    ok($r->{body} eq $bytes, '... all its bytes');
    is($r->{headers}{'content-type'}, 'application/octet-stream', '... type');
    is($r->{headers}{'content-length'}, 1000 + $i, '... length');

    $r = get($path, method => 'HEAD');
    is($r->{status}, 200, 'HEAD');
    is($r->{headers}{'content-length'}, 1000 + $i, '... length');
    is($r->{headers}{'content-type'}, 'application/octet-stream', '... type');

    next if $place =~ /^_/;
    my ($net) = map { s/^\w/net/r =~ s{/\w(\.\w+)\z}{/net$1}r } $place;
    $path = $path =~ s/^\w/net/r =~ s{/\w(\.\w+)\z}{/net$1}r;
    $t->fault->file($net, "over the network $bytes");
    $r = get($path);
    ok($r->{body} eq "over the network $bytes", "GET $path, over the network");
}

my $large = bytes_of(5 << 20);
$t->fault->file("large.pdb/${GUID}1/large.pdb", $large);
ok(get("large.pdb/${GUID}1/large.pdb")->{body} eq $large, 'a large file');

$t->fault->script('src', 'chunked');
ok(get("large.pdb/${GUID}1/large.pdb")->{body} eq $large,
    '... of a length that is known at its end');
$t->fault->script('src', 'ok');

# --- unknown paths ---

on_disk("deep/a.pdb/${GUID}1/a.pdb", 'x');
write_file($t->dir . '/disk/secret', 'x');
for my $path ("none.pdb/${GUID}1/none.pdb", "a.pdb/${GUID}2/a.pdb",
    "a.pdb/${GUID}1/b.pdb", "a.pdb/${GUID}1/", "a.pdb/${GUID}1", 'a.pdb', '',
    "a.pdb/${GUID}1/a.pdb/", "a.pdb/${GUID}1/a.pdb/a.pdb", "/${GUID}1/",
    "a.pdb/not-hex/a.pdb", 'a.exe//a.exe',
    'a.exe/elf-buildid-/a.exe', "a.exe/elf-buildid-..%2f..%2fsecret/a.exe",
    "deep%2fa.pdb/${GUID}1/deep%2fa.pdb", "x/..%2f..%2fsecret/x",
    "..%5cx.pdb/${GUID}1/..%5cx.pdb", "%2e%2e/12345678/%2e%2e",
    'secret', "../secret", "..%2fsecret", "./a.pdb/${GUID}1/../../../secret",
    "x%0d%0aHost:%20y.pdb/${GUID}1/x%0d%0aHost:%20y.pdb",
    'n' x 3000 . ".pdb/${GUID}1/" . 'n' x 3000 . '.pdb')
{
    my $r = get($path);
    is("$r->{status} $r->{body}", '404 ', 'nothing: ' . substr $path, 0, 70);
}
is(get("..%2fdisk%2fsecret")->{status}, 404,
    'a path to the location of a source');
is(get("a.pdb/${GUID}1%00/a.pdb")->{status}, 400, 'a NUL');
is(get("a.pdb/${GUID}1/a.pdb", method => 'POST')->{status}, 405, 'a POST');

# --- where it is off, or a file is absent ---

for my $at ('/off', '/none') {
    my $r = get("a.pdb/${GUID}1/a.pdb", at => $at);
    is("$r->{status} $r->{body}", '404 ', "at $at");
}
$t->fault->forget;
is(get("a.pdb/${GUID}1/a.pdb", at => '/off')->{status}, 404, 'off');
is($t->fault->count, 0, '... no source gets a request');

# --- failures ---

$t->fault->script('src', 'status/503');
is(get("a.pdb/${GUID}1/a.pdb")->{status}, 200, 'a source fails, another has it');

my $r = get("large.pdb/${GUID}1/large.pdb");
is($r->{status}, 500, 'a source fails, no other has it');
is($r->{headers}{'content-type'}, 'application/json', '... JSON');
is($r->{json}{detail}, 'failed to download object', '... detail');
like($r->{json}{causes}[0], qr/503/, '... cause');
is(get("large.pdb/${GUID}1/large.pdb", method => 'HEAD')->{status}, 500,
    '... HEAD');

$t->fault->script('src', 'short/10');
is(get("large.pdb/${GUID}1/large.pdb")->{status}, 500, 'a file is truncated');

$t->fault->script('src', 'ok');
for my $how ('ok', 'chunked') {
    $t->fault->script('src', $how);
    $t->fault->file("huge.pdb/${GUID}1/huge.pdb", bytes_of(7 << 20));
    $r = get("huge.pdb/${GUID}1/huge.pdb");
    is($r->{status}, 500, "a file is too large ($how)");
    like($r->{json}{causes}[0], qr/larger than symbolicate_proxy/, '... cause');
}
$t->fault->script('src', 'ok');

$t->fault->forget;
is(get("large.pdb/${GUID}1/large.pdb", at => '/other', method => 'HEAD')
    ->{status}, 200, 'sources have patterns');
is($t->fault->count, 1, '... which are applied');

# --- clients that go away ---

my ($worker) = $t->workers;
my $before = SymFetch::descriptors($worker);
my $path = "large.pdb/${GUID}1/large.pdb";

sub begin {
    my ($at, %o) = @_;
    my $socket = $t->connect(%o);
    $t->send_all($socket, $t->request_text('GET', "$at/proxy/$path"));
    return $socket;
}

sub is_free {
    my ($at, $what) = @_;
    return $t->wait_for(sub {
        get($path, at => $at, method => 'HEAD')->{status} == 200
    }, $what);
}

$t->fault->script('src', 'gate/g/ok')->forget;
my $waiting = begin('/other');
$t->fault->wait(undef, 'count', 1);
$r = get($path, at => '/other');
is($r->{status}, 503, 'more files than may be in flight at a time');
is($r->{json}{detail}, 'maximum number of files reached', '... detail');
close $waiting;
$t->fault->wait(undef, 'now', 0);
pass('a client leaves: its download ends');
$t->fault->open_gate('g');
is_free('/other', '... and its slot is free');

my $slow = begin('/other', receive_buffer => 4096);
$t->wait_for(sub { get($path, at => '/other')->{status} == 503 },
    'a client that does not read keeps its slot');
close $slow;
is_free('/other', '... until it leaves');

my $half = begin('/other', receive_buffer => 4096);
$t->wait_for(sub { get($path, at => '/other')->{status} == 503 }, 'one reads');
$r = $t->response($half);
ok($r->{body} eq $large, '... slowly, and gets all');
is_free('/other', '... and its slot is free');

$t->fault->script('src', "drip/65536");
$t->fault->forget;
my $early = begin('/other');
$t->fault->wait(undef, 'count', 1);
close $early;
$t->fault->wait(undef, 'now', 0);
$t->fault->script('src', 'ok');
is_free('/other', 'one leaves while its file arrives');

$t->wait_for(sub { SymFetch::descriptors($worker) <= $before + 1 },
    'no descriptor is leaked');
like($t->request('GET', '/metrics')->{body},
    qr/^symbolicate_requests_total\{[^}]*version="proxy"/m, 'they are counted');

is($t->end, '', 'nothing is wrong');

done_testing();
