#!/usr/bin/perl

# Clients of symbol files that ask for odd paths, many ranges or read slowly, and files
# that change while a client reads them.  A client gets the bytes of one file, or no
# complete answer; never those of two files, and never a file of elsewhere.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use File::Path qw(make_path remove_tree);
use Socket ();
use Test::More;

use SymElf;
use SymFetch;
use SymLoader qw(write_file);

my $dir = SymElf::folder();
my $tree = "$dir/tree";
my $id = '0123456789abcdef0123456789abcdef01234567';

# More than sockets hold.
sub bytes_of {
    my ($seed, $size) = @_;
    return substr join('', map { pack 'N', $_ * $seed % 4294967296 } 1 .. $size / 4 + 1), 0, $size;
}
my $large = bytes_of(2654435761, 24 << 20);
my $other = bytes_of(2246822519, 24 << 20);

make_path("$tree/01");
write_file("$dir/secret", 'secret');
write_file("$tree/secret", 'secret');

my $t = SymFetch->new(allowed => [qr/was truncated|read only 0 of/]);
$t->conf(locations => <<"CONF");
        location / {
            symbolicate files;
            symbolicate_proxy on files=8 size=64m;
            sendfile on;
            symbolicate_source tree uri=/tree/ layout=native;
        }
        location /net/ {
            symbolicate files;
            symbolicate_proxy on files=2 size=64m;
            symbolicate_source net uri=/src/ layout=debuginfod;
        }
        location /few/ {
            symbolicate files;
            symbolicate_proxy on files=1 size=64m;
            sendfile on;
            symbolicate_source tree uri=/tree/ layout=native;
        }
        location /tree/ { internal; alias $tree/; log_not_found off; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; proxy_max_temp_file_size 0; }
CONF
$t->fault->script('src', 'ok');
$t->start;
my $path = "/buildid/$id/debuginfo";
my $file = "$tree/01/" . substr($id, 2) . '.debug';
my ($worker) = $t->workers;
my $before = SymFetch::descriptors($worker);

# --- paths ---

for my $odd ("/buildid/$id/debuginfo/", "/buildid/$id/debuginfo%00", "/buildid/$id%2f..%2f../secret",
             "/buildid/..%2f..%2fsecret/debuginfo", "/buildid/$id/section/..%2f..%2fsecret",
             "/buildid/$id/section/%00", "/buildid/$id/section/" . 'a' x 7_000, '/buildid/' . 'a' x 7_000,
             '/buildid/' . 'ab' x 64 . '/debuginfo', '/buildid/' . 'ab' x 65 . '/debuginfo', '/buildid/a/debuginfo',
             '/buildid/0/debuginfo', '/buildid//debuginfo', '/buildid/%20/debuginfo', '/buildid/0x01/debuginfo',
             "/buildid/-$id/debuginfo", '/..%2fsecret/x', '/01/..%2fsecret', '/01/../secret', '/01/..%2f..%2fsecret',
             '/01/%2e%2e%2fsecret', '/secret', '/tree/secret', '/tree/01/' . substr($id, 2) . '.debug',
             '/..%5csecret/0123/..%5csecret', '/secret/0/secret', '/./secret', '/' . 'a/' x 3_000,
             "/a.pdb/${id}%0d%0aX:%20y/a.pdb", '/%ff%fe/' . uc($id) . '/%ff%fe', '/?' . 'a' x 7_000)
{
    my $r = $t->request('GET', $odd);
    like($r->{status}, qr/^40[04]$/, 'nothing: ' . substr $odd, 0, 80);
    unlike($r->{body}, qr/^secret/, '... at all');
}
is($t->request('GET', "/buildid/$id/" . 'a' x 10_000)->{status}, 414, 'a path longer than requests are');

# --- ranges ---

write_file($file, $large);

sub range { return $t->request('GET', $path, headers => ['Range', "bytes=$_[0]"]) }

my $r = range(join ',', ('0-0', '-1') x 500);
is($r->{status}, 206, 'a thousand ranges');
my @parts = $r->{body} =~ m{Content-Range: bytes (\d+)-\d+/\d+\r\n\r\n(.)\r\n}gs;
is_deeply(\@parts, [(0, substr($large, 0, 1), length($large) - 1, substr $large, -1) x 500], '... all of them');
for my $overlapping ('0-', '1-') {
    $r = range(join ',', ($overlapping) x 400);
    ok($r->{status} == 200 && $r->{body} eq $large, "400 times the file ($overlapping) are sent once");
}
for my $case (['-10', 206], ['99999999999999999999-', 416], ['-99999999999999999999', 416], ['5-1', 416], ['a-b', 416],
              ['18446744073709551615-', 416])
{
    is(range($case->[0])->{status}, $case->[1], "range $case->[0]");
}

# --- files that change while they are read ---

# Begins to read slowly; the rest is read by the function that it returns.
sub begin {
    my ($at) = @_;
    my $socket = $t->connect(receive_buffer => 4096);
    my $got = '';
    $t->send_all($socket, $t->request_text('GET', $at));
    while (length $got < 8192) {
        sysread $socket, $got, 4096, length $got or die 'no answer';
    }
    return sub {
        1 while sysread $socket, $got, 1 << 20, length $got;
        my ($head, $body) = split /\r\n\r\n/, $got, 2;
        return { length => $head =~ /^Content-Length: (\d+)/mi, body => $body };
    };
}

my $rest = begin($path);
write_file("$file.new", $other);
rename "$file.new", $file or die;
ok($t->request('GET', $path)->{body} eq $other, 'a file is replaced');
ok($rest->()->{body} eq $large, '... a client that has begun gets the first one');

$rest = begin($path);
unlink $file or die;
is($t->request('GET', $path)->{status}, 404, 'a file is removed');
ok($rest->()->{body} eq $other, '... a client that has begun gets it');

write_file($file, $large);
$rest = begin($path);
remove_tree($tree);
is($t->request('GET', $path)->{status}, 404, 'the folder vanishes');
ok($rest->()->{body} eq $large, '... a client that has begun gets its file');

make_path("$tree/01");
write_file($file, $large);
$rest = begin($path);
truncate $file, 1 << 20 or die;
my $cut = $rest->();
ok(length $cut->{body} < $cut->{length}, 'a file that is shortened is not a complete answer')
    or diag "$cut->{length} " . length $cut->{body};
is(substr($large, 0, length $cut->{body}) eq $cut->{body}, 1, '... and nothing else');

# --- sources that vanish ---

$t->fault->file("$id/debuginfo", $large);
$t->fault->script('src', 'short/1000000');
$r = eval { $t->request('GET', "/net$path") } // {};
ok(!$r->{status}, 'the source ends in the middle: no answer');
$t->fault->script('src', 'ok');
ok($t->request('GET', "/net$path")->{body} eq $large, '... and the next one is complete');

$rest = begin("/net$path");
$t->fault->script('src', 'status/503');
ok($rest->()->{body} eq $large, 'it fails when we have the file');

# --- clients that read slowly ---

# They hold a descriptor of a file in a folder, and keep no place from others.  A file
# from the network takes space on our disk, so it counts until the client has it.
{
    write_file($file, $large);
    $t->fault->script('src', 'ok');
    my @slow = map { begin("/few$path") } 1 .. 4;
    is($t->request('GET', "/few$path", headers => ['Range', 'bytes=0-9'])->{status}, 206,
       'four slow clients of a folder keep none from a fifth');
    ok($slow[0]->()->{body} eq $large, '... and get their file');
    @slow = map { begin("/net$path") } 1 .. 2;
    my $r = eval { $t->request('GET', "/net$path") } // {};
    ok(!$r->{status}, 'two of the network keep a third waiting: it may try again');
    like($t->error_log, qr/a file could not be fetched: maximum number of files/, '... the log says why');
    ok($slow[0]->()->{body} eq $large, '... they get the file');
    $r = $t->request('GET', "/net$path");
    is($r->{status}, 200, '... then there is room again');
}

# --- clients that leave ---

my @gone = map { begin($path) } 1 .. 3;
@gone = ();
$t->fault->script('src', 'ok');
is($t->request('GET', "/net$path")->{status}, 200, 'others are served');
$t->wait_for(sub { SymFetch::descriptors($worker) <= $before + 1 }, 'no descriptor is leaked');

# a source on this machine sends as fast as the worker reads
$t->allow(qr/a turn of the event loop took [12]\d\d ms/);
is($t->end, '', 'nothing is wrong');
done_testing();
