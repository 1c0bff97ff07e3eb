#!/usr/bin/perl

# A fleet has symbols of builds that no user runs any more: modules not
# requested for a number of days are removed, used ones stay, however old they
# are.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;

use SymLoader qw(sym_text read_file);
use SymServe;

my $ID = 'AAAABBBBCCCCDDDDEEEEFFFF000011112';
my $DAY = 86400;
my $t = SymServe->new;

sub clock { return $t->store . '/clock' }

# Sets all times of use back.
sub age_all {
    my ($seconds) = @_;
    my @slots = unpack 'L*', read_file(clock());
    open(my $fh, '+<:raw', clock()) or die;
    print $fh pack 'L*', map { $_ == 0 ? 0 : $_ - $seconds } @slots;
    close($fh) or die;
}

sub load { return $t->run('load', map { $t->file("$_.sym", sym_text($_, $ID)) } @_) }

is(load(qw(old used young))->{code}, 0, 'three modules');
is($t->run('lookup', "$_/$ID", '1000')->{code}, 0, "$_ is used") for qw(old young);
age_all(46 * $DAY);
is($t->run('lookup', "used/$ID", '1000')->{code}, 0, 'one is used');
is(load('young')->{code}, 0, '... another is loaded again');

# --- old modules when the daemon starts ---

$t->serve;
is($t->stats->{aged}, 0, 'without --max-unused nothing goes');
$t->stop;
is(() = $t->modules, 3, '... all are there');

$t->serve('--max-unused', '47d');
is($t->stats->{aged}, 0, 'not yet old enough');
$t->stop;

$t->serve('--max-unused', '45d');
is($t->stats->{aged}, 1, 'counted');
is_deeply([ $t->modules ], [ "used/$ID", "young/$ID" ],
          'one is removed; a use keeps a module, and so does loading it again');
my $c = $t->client;
is($c->ensure(1, "old/$ID", 1)->{type}, 'FETCH',
    'a removed module is fetched again');
like($t->stop->{err}, qr/^symloader: serve: 1 modules dropped: not used/m,
     '... and logged');

# --- while it runs ---

is($t->run('lookup', "young/$ID", '1000')->{code}, 0, 'the other is used');
age_all(46 * $DAY);
$t->serve('--max-unused', '1s');
is($t->stats->{aged}, 2, 'old ones are removed at once');
is(load('late')->{code}, 0, 'one arrives later');
ok(defined $t->wait_log(qr/1 modules dropped/), '... and becomes old, too');
is($t->stats->{aged}, 3, 'all are counted');
is($t->stop->{code}, 0, 'a clean end');
is_deeply([ $t->modules ], [], 'nothing is left');
is($t->verify, 'sound', 'the store is sound');

done_testing();
