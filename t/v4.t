# v4 is deprecated, frozen and still in use: ten-year-old clients read "function
# (in module)" from it.  Names are those of the .sym text; an offset that is not
# an integer is returned unchanged, as by the older server.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use SymAnswer;
use Test::More;

my @modules = (
    ['crash-client', '509C0610949836F7B70BD88BCF03E5400'],
    ['test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1'],
    ['libc-2.13.so', 'F4F8DFCD5A5FB5A7CE64717E9E6AE3890'],
);
my @files = map { SymTest::symbol_file(@$_) } @modules;

my $t = SymTest->new->load(@files)->start;

my $number = SymTest::is_slow() ? 100 : 1000;
my @stacks;
for my $m (0 .. $#modules) {
    push @stacks, [map { [$m, $_] } SymAnswer::random($files[$m], $number, 3)];
}
push @stacks, [map { $stacks[$_ % 3][$_] } 0 .. 50];

my %job = (version => 4, memoryMap => [@modules, ['never.so', 'AB']],
    stacks => [map { [map { [$_->[0], $_->[1]{addr}] } @$_] } @stacks]);
my $want = SymAnswer::v4($job{memoryMap}, \@stacks);

for my $path ('/symbolicate/v4', '/') {
    my $r = $t->post_json($path, \%job);
    is($r->{status}, 200, "$path: answered");
    ok($r->{body} eq $want, "$path: byte by byte")
        or SymAnswer::differs($r->{body}, $want);
}

delete $job{version};
ok($t->post_json('/symbolicate/v4', \%job)->{body} eq $want,
    'the version key may be missing');

my $r = $t->post('/symbolicate/v4', '{"stacks": [[[-1, 11723767], [0, 0]], '
    . '[[1, 4294967296]], []], "memoryMap": [["gone", "' . ('A' x 33)
    . '"], ["crash-client", "509c0610949836f7b70bd88bcf03e5400"], '
    . '["gone", "' . ('A' x 33) . '"]]}');
is($r->{body}, '{"symbolicatedStacks": [["0xb2e3f7 (in <unknown>)", '
    . '"0x0 (in gone)"], ["0x100000000 (in crash-client)"], []], '
    . '"knownModules": [false, true, false]}',
    'unknown modules, no module, an offset past 32 bits, an empty stack');

$r = $t->post('/symbolicate/v4', '{"stacks": [[[0, 1.00000], [0, 16]]], '
    . '"memoryMap": [["gone", "' . ('A' x 33) . '"]], "version": 4}');
is($r->{status}, 200, 'an offset that is not an integer is no error');
is($r->{body}, '{"symbolicatedStacks": [["1.00000", "0x10 (in gone)"]], '
    . '"knownModules": [false]}', 'it is returned unchanged');

# a "jobs" key means nothing to v4
is($t->post('/symbolicate/v4', '{"jobs": []}')->{json}{title},
    'job 0 is invalid: no stacks specified', 'v4 knows no jobs');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
