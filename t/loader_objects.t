#!/usr/bin/perl

# A module in the store is found by its ids, whatever its file name; one of a
# .sym file also by the name in that file.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(sym_text json_lines write_file read_file);
use Test::More;

my $ZERO = '0' x 33;

sub listed {
    my ($t) = @_;
    return [ map {"$_->{name}/$_->{id}"} json_lines($t->run('ls', '--json')->{out}) ];
}

# --- one debug file under several names ---

{
    my $t = SymLoader->new;
    my $c = $t->file('a.c', "int main(void) { return 0; }\n");
    my $file = $t->dir . '/a.debug';
    is(system('gcc', '-g', '-Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567', '-o', $file, $c), 0, 'a debug file');
    my $copy = $t->file('b.debug', read_file($file));
    my $id = '67452301AB89EFCD0123456789ABCDEF0';

    is($t->run('load', '--quiet', $file, $copy)->{code}, 0, 'loaded under two names');
    is_deeply(listed($t), [ "b/$id" ],
        'it is one module, named after the later file');
    is($t->run('load', '--quiet', '--jobs', 2, $copy, $file)->{code}, 0, 'in the other order');
    is_deeply(listed($t), [ "a/$id" ], '... the later file again');
    for my $operand ("a/$id", "b/$id", "other.so/$id", $id, '0123456789abcdef0123456789abcdef01234567') {
        is($t->run('show', $operand)->{code}, 0, "$operand finds it");
    }
    is($t->run('show', '0123456789abcdef0123456789abcdef01234568')->{code}, 1, '... another build id does not');
    is($t->run('rm', "other.so/$id")->{code}, 0, 'rm by any name');
    is_deeply(listed($t), [], '... removes it');
    is($t->verify, 'sound', 'the store is sound');
}

# --- .sym files of one id ---

{
    my $t = SymLoader->new;
    my $id = 'BBA6FA10B8AAB33D00000000000000001';
    $t->run('load', '--quiet', map { $t->file("$_.sym", sym_text($_, $id, prefix => $_)) } qw(a b c));
    is_deeply(listed($t), [ "a/$id", "b/$id", "c/$id" ], 'names of .sym files tell modules apart');
    like($t->run('lookup', "b/$id", '1000')->{out}, qr/^b0$/m, '... and find them');
    is($t->run('lookup', "d/$id", '1000')->{code}, 1, '... no other name does');
    is($t->run('rm', "b/$id")->{code}, 0, 'rm by name and id');
    is_deeply(listed($t), [ "a/$id", "c/$id" ], '... removes one');
    is($t->run('rm', $id)->{code}, 0, 'rm by the id alone');
    is_deeply(listed($t), [], '... removes all');
    is($t->verify, 'sound', 'the store is sound');
}

# --- the id that says nothing ---

{
    my $t = SymLoader->new;
    my @names = map { sprintf 'm%02d', $_ } 1 .. 50;
    $t->run('load', '--quiet', map { $t->file("$_.sym", sym_text($_, $ZERO, prefix => $_)) } @names);
    is_deeply(listed($t), [ map {"$_/$ZERO"} @names ], 'an id of zeros under 50 names: 50 modules');
    like($t->run('lookup', "$names[-1]/$ZERO", '1000')->{out}, qr/^m500$/m, '... each is found by its name');
    is($t->verify, 'sound', 'the store is sound');
}

done_testing();
