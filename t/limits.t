# The limits protect the memory of a server that many clients share: one item
# over a limit is refused with an error, the limit itself is served.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my $t = SymTest->new->load(SymTest::symbol_file(
    'overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'))
    ->conf(server => 'symbolicate_slice 2;', locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /jobs    { symbolicate; symbolicate_max_jobs 3; }
        location /stacks  { symbolicate; symbolicate_max_stacks 3; }
        location /frames  { symbolicate; symbolicate_max_frames 12; }
        location /modules { symbolicate; symbolicate_max_modules 3; }
CONF

sub jobs {
    my ($jobs, $stacks, $frames, $modules) = @_;
    my @memory_map = map { ["m$_", sprintf '%033X', $_] } 1 .. $modules;
    return { jobs => [map { {
        stacks => [map { [map { [$_ % ($modules + 1) - 1, $_] } 1 .. $frames] }
            1 .. $stacks],
        memoryMap => \@memory_map,
    } } 1 .. $jobs] };
}

sub refused {
    my ($r, $name) = @_;
    is($r->{status}, 400, "$name: 400");
    like($r->{json}{title}, qr/limit|<=|too many/i, "$name: a sentence");
    is($r->{headers}{vary}, 'Accept', "$name: Vary");
}

for my $path ('/symbolicate/v5', '/jobs/v5') {
    my $r = $t->post_json($path, jobs(3, 1, 1, 1));
    is($r->{status}, 200, "$path: three jobs");
    is(scalar @{$r->{json}{results}}, 3, "$path: three results");
}

my $r = $t->post_json('/jobs/v5', jobs(4, 1, 1, 1));
refused($r, 'four jobs');
is($r->{json}{title},
    'please limit number of jobs in a single request to <= 3',
    'four jobs: the error that clients know');

# the public service allows ten, and people complain about that
is($t->post_json('/symbolicate/v5', jobs(200, 1, 1, 1))->{status}, 200,
    'jobs have no limit by default');

is($t->post_json('/stacks/v5', jobs(2, 3, 1, 1))->{status}, 200,
    'three stacks in each job');
refused($t->post_json('/stacks/v5', jobs(1, 4, 1, 1)), 'four stacks in one');

is($t->post_json('/frames/v5', jobs(2, 2, 3, 1))->{status}, 200,
    'twelve frames in all');
refused($t->post_json('/frames/v5', jobs(1, 1, 13, 1)),
    'thirteen frames in one stack');
refused($t->post_json('/frames/v5', jobs(13, 1, 1, 1)),
    'thirteen frames in all');
is($t->post_json('/frames/v4', jobs(1, 2, 6, 1)->{jobs}[0])->{status}, 200,
    'v4: twelve frames');
refused($t->post_json('/frames/v4', jobs(1, 1, 13, 1)->{jobs}[0]),
    'v4: thirteen frames');

is($t->post_json('/modules/v5', jobs(2, 1, 1, 3))->{status}, 200,
    'three modules in each job');
refused($t->post_json('/modules/v5', jobs(1, 1, 1, 4)), 'four modules in one');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
