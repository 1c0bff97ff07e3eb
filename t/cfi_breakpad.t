#!/usr/bin/perl

# STACK CFI records written from the rules of a file give the same rules when
# read again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymElf qw(folder);
use SymLoader qw(write_file);
use Test::More;

my $t = SymLoader->new;
my $dir = folder();

sub dump_of {
    return $t->run({ no_store => 1 }, 'dump', @_);
}

my $rules = dump_of('--format=cfi', '/usr/sbin/nginx')->{out};
is(dump_of('--kind=cfi', '/usr/sbin/nginx')->{out}, $rules,
   'the format selects the kind');

my $r = dump_of('--kind=cfi', '--format=breakpad', '/usr/sbin/nginx');
is($r->{code}, 0, 'STACK records are written');
like($r->{out}, qr/\ASTACK CFI INIT \w+ \w+ \.cfa: \$rsp \d+ \+ \.ra: \.cfa -8 \+ \^\n/,
     '... in the form of Breakpad');
like($r->{err}, qr/rows left out, because their rules are programs: 1\b/,
     '... except that of the PLT, an expression of DWARF');

my $file = write_file("$dir/nginx.sym",
    "MODULE Linux x86_64 000000000000000000000000000000000 nginx\n$r->{out}");
my $again = dump_of('--kind=cfi', $file);
$rules =~ s/^.* shl .*\n//m;
is($again->{out}, $rules, 'they give the same rules');

# Rules are made only when they are needed.
my $store = $t->run('load', $file);
unlike($t->run('stat')->{out}, qr/cfi: [1-9]/, 'load makes none');

done_testing();
