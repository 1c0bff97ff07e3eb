# The Debug header requests a block about what the request cost: in v5 with any
# value, in v4 with the words that the older server knew.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');
my $t = SymTest->new->load(SymTest::symbol_file(@module))->start;

my $body = $t->json({
    stacks => [[[0, 0x1e20], [0, 0x1e30], [1, 5]], [[-1, 7]]],
    memoryMap => [[@module], ['gone', 'A' x 33]],
});

sub debug_of {
    my ($version, @headers) = @_;
    return $t->post("/symbolicate/v$version", $body, @headers)->{json}{debug};
}

for my $version (4, 5) {
    is(debug_of($version), undef, "v$version: none without the header");
    is(debug_of($version, Debug => ''), undef,
        "v$version: nor for an empty one");

    my $debug = debug_of($version, Debug => 1);
    is_deeply([sort keys %$debug],
        [qw(cache_lookups downloads modules stacks time)], "v$version: parts");
    is($debug->{cache_lookups}{count}, 2, "v$version: modules looked for");
    is($debug->{cache_lookups}{hits}, 1, "v$version: and found");
    is_deeply($debug->{downloads}, { count => 0, size => 0, time => 0 },
        "v$version: nothing was fetched");
    is($debug->{modules}{count}, 2, "v$version: modules");
    is_deeply($debug->{modules}{stacks_per_module},
        { join('/', @module) => 1, 'gone/' . 'A' x 33 => 1 },
        "v$version: stacks of each");
    is_deeply($debug->{stacks}, { count => 4, real => 3 },
        "v$version: frames, and those with a module");
    cmp_ok($debug->{time}, '>', 0, "v$version: it took some time");
    cmp_ok($debug->{cache_lookups}{time}, '<=', $debug->{time},
        "v$version: lookups take less than all");
}

ok(debug_of(4, Debug => $_), "v4: $_") for qw(true TRUE yes);
is(debug_of(4, Debug => $_), undef, "v4: $_") for qw(0 false no 11);
ok(debug_of(5, Debug => $_), "v5: $_") for qw(true 0 false);

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
