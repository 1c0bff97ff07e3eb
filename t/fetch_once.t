# Modules that the store lacks are fetched from the source, converted and
# answered, all within the same request, and never fetched again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my @app = ('app.so', SymFetch::id(1));
my @pdb = ('win.pdb', SymFetch::id(2));

my $t = SymFetch->new->start;
$t->upload(@app, prefix => 'app_')->upload(@pdb, prefix => 'win_');

my $r = $t->ask([@app], [@pdb]);
is($r->{status}, 200, 'answered');
is($t->found($r, @app), 1, 'a module that only the source had');
is($t->function($r, 0), 'app_0', 'its function');
is($t->function($r, 1), 'win_0', 'one without its .pdb in the file name');
is($r->{headers}{'retry-after'}, undef, 'no reason to retry');

is($t->ask([@app], [@pdb])->{body}, $r->{body}, 'the same again');
is($t->gets(@app), 1, 'one GET for the one');
is($t->gets(@pdb), 1, '... and for the other');

my @old = ('old.so', SymFetch::id(3));
$t->upload(@old, prefix => 'old_');
$r = $t->post_json('/symbolicate/v4', { version => 4, memoryMap => [[@old]],
    stacks => [[[0, 0x1004]]] });
is($r->{status}, 200, 'v4: answered');
is_deeply($r->{json}, { symbolicatedStacks => [['old_0 (in old.so)']],
    knownModules => [JSON::PP::true] }, 'v4 fetches as well');

is($t->loader->verify, 'sound', 'the store is sound');
is($t->end, '', 'nothing is wrong');

done_testing();
