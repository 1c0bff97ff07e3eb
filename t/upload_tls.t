#!/usr/bin/perl

# The worker reads a long body in pieces, between which other connections have their turn:
# from a socket, from TLS and from HTTP/2.  Each upload is complete, also if several run at
# once, and the connection serves other requests after it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(read_file sym_text write_file);
use SymTest;
use SymUpload;

my $MB = 1 << 20;
my $CLIENTS = 3;

my $t = SymUpload->new;
my $dir = $t->{dir};
SymTest::run_quietly("$dir/log", 'openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', 2,
    '-subj', '/CN=localhost', '-keyout', "$dir/key.pem", '-out', "$dir/cert.pem") == 0 or BAIL_OUT('no certificate');
$t->conf(server => <<"CONF")->start;
        listen unix:$dir/plain.sock;
        listen unix:$dir/tls.sock ssl;
        listen unix:$dir/h2.sock ssl http2;
        ssl_certificate     $dir/cert.pem;
        ssl_certificate_key $dir/key.pem;
CONF

# Sends the file of each name at once, and a request about it on the same connection.
sub upload_all {
    my ($socket, $scheme, $version, %file) = @_;
    my %pid;
    for my $name (sort keys %file) {
        write_file("$dir/$name.json", $t->json({ jobs => [ { memoryMap => [ [ $name, $file{$name}{id} ] ],
            stacks => [ [ [ 0, 0x10000 ] ] ] } ] }));
        my $pid = fork // die "fork: $!";
        if ($pid == 0) {
            my @to = ('-sk', $version, '--unix-socket', "$dir/$socket.sock", '--max-time', $SymTest::PATIENCE);
            open STDOUT, '>', "$dir/$name.connects" or die "$name.connects: $!";
            exec 'curl', @to, '-o', "$dir/$name.uploaded", $t->bearer('ci-secret'), '-T', $file{$name}{path},
                "$scheme://localhost/upload/$name/$file{$name}{id}/$name.sym",
                '--next', @to, '-o', "$dir/$name.answer", '-w', '%{num_connects}', '--data-binary',
                "\@$dir/$name.json", "$scheme://localhost/symbolicate/v5"
                or die "curl: $!";
        }
        $pid{$name} = $pid;
    }
    for my $name (sort keys %file) {
        waitpid $pid{$name}, 0;
        is($?, 0, "$socket: $name");
        like(read_file("$dir/$name.uploaded"), qr/"state": "stored"/, '... is stored');
        ok(read_file("$dir/symbols/$name/$file{$name}{id}/$name.sym") eq read_file($file{$name}{path}),
            '... all bytes of it');
        like(read_file("$dir/$name.answer"), qr/"function": "x+"/, '... and the next request is answered');
        is(read_file("$dir/$name.connects"), '0', '... on the same connection');
    }
    return;
}

my $n = 0;
for ([ plain => 'http', '--http1.1' ], [ tls => 'https', '--http1.1' ], [ h2 => 'https', '--http2' ]) {
    my %file;
    for my $client (1 .. $CLIENTS) {
        my $name = "$_->[0]$client";
        my $file = $file{$name} = { id => SymFolder::id(++$n), path => "$dir/$name.sym" };
        write_file($file->{path}, sym_text($name, $file->{id}) . join '',
            map { sprintf "PUBLIC %x 0 %s\n", $_, 'x' x 1000 } 0x10000 .. 0x10000 + 3 * $MB / 1000);
    }
    upload_all(@$_, %file);
}

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');
done_testing();
