# A download may take longer than nginx waits for a client after its request is
# done (lingering_timeout, 5 seconds by default), because it has no client.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $t = SymFetch->new->conf(server => 'lingering_timeout 50ms;')->start;
my @module = ('slow.so', SymFetch::id(1));

$t->upload(@module, functions => 100);
# 100 functions are about 1.7 KB: 20 times the timeout
$t->fault->script('src', 'drip/1700');
my $r = $t->ask([@module]);
is($r->{status}, 200, 'answered');
is($t->function($r, 0), 'f0', 'with symbols');
is($t->gets(@module), 1, 'by one GET');

is($t->end, '', 'nothing is wrong');

done_testing();
