#!/usr/bin/perl

# A full disk costs `load` only one module: the failure is reported with its
# reason, and the files before it and those that were started before its commit
# are stored.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text);

my $t = SymLoader->new;
my $first = $t->file('first.sym', sym_text('first', '1' x 33));
my $large = $t->file('large.sym', sym_text('large', '2' x 33, functions => 250000,
                                           lines => 1));
my $last = $t->file('last.sym', sym_text('last', '3' x 33));

# a file size limit has the same effect on a writer
$t->limit('-f 2048');
$t->run('init');

my $r = $t->run('load', '--jobs', 1, $first, $large, $last);

is($r->{code}, 1, 'one of three files fails');
like($r->{err}, qr{large\.sym: .*full}, '... why');
unlike($r->{out}, qr/large\.sym/, '... it is not reported as stored');
like($r->{out}, qr{/$_\.sym: $_/}, "... $_ is stored") for 'first', 'last';
is_deeply([ sort map { m{([^/]+)/} ? $1 : $_ } $t->modules ], [ 'first', 'last' ],
    '... and in the store');
is($t->verify, 'sound', '... which is sound');

done_testing();
