#!/usr/bin/perl

# A crash report often has an id and no name, so an id alone finds symbols, also
# those of a .sym file, which is not in the index of ids.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(sym_text);
use Test::More;

my $t = SymLoader->new;
my $id = 'BBA6FA10B8AAB33D0000000000000000';
my %name = (1 => 'one.so', 2 => 'two.so');
$t->run('load', '--quiet', map {
    $t->file("$_.sym", sym_text($name{$_}, "$id$_", prefix => "f$_", lines => 1))
} 1, 2);

for my $age (1, 2) {
    my $r = $t->run('lookup', "$id$age", '1000');
    is($r->{code}, 0, "lookup of $name{$age} by its id");
    is($r->{out}, $t->run('lookup', "$name{$age}/$id$age", '1000')->{out},
       '... as by name and id');
    like($r->{out}, qr/^f${age}0$/m, '... is of this module');
    like($t->run('lookup', '--json', "$id$age", '1000')->{out},
         qr/"$name{$age}"/, '... and JSON names it');
    like($t->run('dump', lc "$id$age")->{out}, qr/^MODULE \S+ \S+ $id$age /m,
         '... dump, too, in any case');
}

# the better of two files with one id
$t->run('load', '--quiet', $t->file('poor.sym', sym_text('a.so', "${id}1", prefix => 'poor')));
like($t->run('lookup', "${id}1", '1000')->{out}, qr/^f10$/m,
    'lines are preferred to names');

is($t->run('lookup', '--source', 'other', "${id}1", '1000')->{code}, 1,
   'none from another source');
my $r = $t->run('lookup', "${id}3", '1000');
is($r->{code}, 1, 'an unknown id');
like($r->{err}, qr/${id}3: not in the store/, '... is said');

done_testing();
