#!/usr/bin/perl

# Starting a program costs more than converting a small file, and libcrypto
# would double that.  It is loaded when the first digest is needed, and `load`
# needs none.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(read_file sym_text);

my $ID = 'ABCDEF0123456789ABCDEF01234567890';
my $t = SymLoader->new;
my $p = $t->start('load', '--jobs', 1, $t->file('first.sym', sym_text('first', $ID)),
                  '/dev/stdin');
like(scalar(readline($p->{out})), qr/first\.sym: first/, 'a module is stored');
my $maps = read_file("/proc/$p->{pid}/maps");
like($maps, qr/liblmdb/, '... with the help of a library');
unlike($maps, qr/libcrypto/, '... but not of libcrypto');
close($p->{in});
$t->wait($p);

done_testing();
