# One store under two names, one of them a link: LMDB would open it twice in one
# process, and forget the readers of the first handle.  Both locations must
# answer, and the readers must be counted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');

my $t = SymTest->new->load(SymTest::symbol_file(@module));
symlink $t->store, $t->dir . '/link' or die "symlink: $!";
$t->conf(locations => <<'CONF')->start;
        location /a { symbolicate; }
        location /b { symbolicate; symbolicate_store %%DIR%%/link; }
        location /c { symbolicate; symbolicate_store %%STORE%%/; }
        location /__ { symbolicate_health; }
CONF

my $body = $t->json({ stacks => [[[0, 0x1e20]]], memoryMap => [[@module]] });
for my $round (1 .. 2) {
    for my $place ('a', 'b', 'c') {
        my $r = $t->post("/$place/v5", $body);
        is($r->{status}, 200, "/$place: 200");
        like($r->{body}, qr/"function": /, "/$place: names");
    }
}

my $worker = join ' ', $t->workers;
my @maps = grep { m{/data\.mdb$} }
    split /\n/, SymTest::slurp("/proc/$worker/maps");
is(scalar @maps, 1, 'the worker has the store mapped once');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
