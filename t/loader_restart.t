#!/usr/bin/perl

# No client notices a restart of the loader: requests for missing modules that
# arrive while it is away wait for it, within their budget.  If it does not come
# back they get an error, and after that no request waits.

use strict;
use warnings;

use FindBin;
use List::Util qw(min);
use lib "$FindBin::Bin/lib";
use Test::More;
use Time::HiRes qw(time);

use SymFetch;

my $t = SymFetch->new->start;
my @module = map { [ "m$_.so", SymFetch::id($_) ] } 0 .. 9;
$t->upload(@$_) for @module;
is($t->found($t->ask($module[0]), @{ $module[0] }), 1, 'a module is fetched');

# --- restarted under requests ---

for my $signal ('TERM', 'KILL') {
    $t->loader_stop($signal);
    my @gone = @module[1 .. 3];
    my @socket = map { $t->begin($_) } @gone;
    is($t->ask($module[0])->{status}, 200, 'stored modules are answered meanwhile');
    $t->loader_start;
    for my $i (0 .. $#gone) {
        my $r = $t->response($socket[$i]);
        is("$r->{status} " . ($t->found($r, @{ $gone[$i] }) // 'null'), '200 1',
            "modules requested while it was away (SIG$signal) are fetched");
    }
    splice @module, 1, 3;
}

# --- it does not come back ---

$t->loader_stop;
my $r = $t->ask_with([ 'X-Symbolicate-Budget' => '200ms' ], $module[1]);
is($r->{status}, 200, 'a request with a short budget is answered in time');
is($t->found($r, @{ $module[1] }), undef, '... its module is pending');

$r = $t->ask($module[2]);
is($r->{status}, 503, 'after some seconds the others get an error');
is_deeply([ values %{ $t->reasons($r) } ], ['the symbol loader is not running'], '... why');

# NGX_SYMBOLICATE_PATIENCE is 5 s; a busy machine takes its time, but not each time
my $quickest = 'inf';
for (1 .. 5) {
    my $began = time;
    is($t->ask($module[2])->{status}, 503, 'and later ones at once');
    $quickest = min($quickest, time - $began);
}
cmp_ok($quickest, '<', 4, '... without waiting');

$t->loader_start;
ok($t->wait_for(sub { ($t->ask($module[2])->{status} // 0) == 200 }, 'served'),
    'when it is back, modules are fetched');
is($t->end, '', 'nothing is wrong');
done_testing();
