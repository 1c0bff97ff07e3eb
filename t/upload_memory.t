#!/usr/bin/perl

# A worker's memory does not grow with a body that is uploaded, whatever buffer the
# server's other locations have for bodies.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text write_file);
use SymUpload;

my $MB = 1 << 20;

my $t = SymUpload->new(how => 'client_body_buffer_size 32m;')->start;
my @token = $t->bearer('ci-secret');
my ($worker) = $t->workers;

sub peak {
    my ($kib) = SymTest::slurp("/proc/$worker/status") =~ /^VmHWM:\s+(\d+) kB/m;
    return $kib * 1024;
}

sub upload {
    my ($name, $id, $bytes) = @_;
    my $file = "$t->{dir}/$name.sym";

    write_file($file, sym_text($name, $id) . join '',
        map { sprintf "PUBLIC %x 0 %s\n", $_, 'x' x 1000 } 0x10000 .. 0x10000 + $bytes / 1000);
    return $t->curl(@token, '-T', $file, $t->url("/upload/$name/$id/$name.sym"));
}

is(upload('small', SymFolder::id(1), 0)->{status}, 201, 'a small file');
my $before = peak();
my $large = upload('large', SymFolder::id(2), 24 * $MB);
is($large->{status}, 201, 'a file of 24 MB') or diag $large->{body};
cmp_ok(peak() - $before, '<', $MB, '... the worker takes less than 1 MB for it');

is($t->stop->log_trouble, '', 'no alert, sanitizer report or respawn');
done_testing;
