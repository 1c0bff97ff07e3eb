# The main purpose: names, files, lines and inlined calls of real symbol files,
# over HTTP, are those in the .sym text.  Expected answers are from
# sym_oracle.py, which shares no code with our reader; they are compared byte by
# byte, key order and separators included, because clients in the field parse
# them in many ways.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use SymAnswer;
use Test::More;

my $t = SymTest->new->load_fixtures->start;

my @modules = (
    ['crash-client', '509C0610949836F7B70BD88BCF03E5400'],
    ['kernel32.pdb', 'BCE8785C57B44245A669896B6A19B9542'],
    ['ld-2.13.so', 'C32AD7E235EA6112E02A5B9D6219C4850'],
    ['libc-2.13.so', 'F4F8DFCD5A5FB5A7CE64717E9E6AE3890'],
    ['libgcc_s.so.1', '18B180F90887D8F8B5C35D185444AF4C0'],
    ['null_read_av', '7B7D1968FF0D47AE4366E9C3A7E1B6750'],
    ['overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840'],
    ['test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1'],
);

# the same paths under sanitizers and valgrind, but fewer times
my $number = SymTest::is_slow() ? 200 : 3000;
my $boundaries = SymTest::is_slow() ? 300 : $ENV{SYM_ALL} ? 20_000 : 5_000;

my %asked;
for my $module (@modules) {
    my ($name, $id) = @$module;
    my $file = SymTest::symbol_file($name, $id);
    my @answers = SymAnswer::random($file, $number, 7);
    push @answers, SymAnswer::boundaries($file, $boundaries);
    $asked{$name} = \@answers;

    my $r = $t->post_json('/symbolicate/v5', { jobs => [{
        stacks => [[map { [0, $_->{addr}] } @answers]],
        memoryMap => [$module],
    }] });
    is($r->{status}, 200, "$name: answered");
    my $want = SymAnswer::v5([[$module]], [[[map { [0, $_] } @answers]]]);
    ok($r->{body} eq $want, "$name: " . @answers . ' addresses, byte by byte')
        or SymAnswer::differs($r->{body}, $want);
    my $named = () = $r->{body} =~ /"function":/g;
    cmp_ok($named, '>', @answers / 10, "$name: many have a name");
}

# --- several modules, stacks and jobs in one request ---

my (@jobs, @want);
for my $job (0 .. 2) {
    my @stacks;
    for my $stack (0 .. 3) {
        push @stacks, [map {
            my $m = ($job + $stack + $_) % @modules;
            my $list = $asked{$modules[$m][0]};
            [$m, $list->[(37 * $_ + $stack) % @$list]];
        } 0 .. 19];
    }
    push @want, \@stacks;
    push @jobs, { memoryMap => \@modules, stacks => [map {
        [map { [$_->[0], $_->[1]{addr}] } @$_] } @stacks] };
}
my $r = $t->post_json('/symbolicate/v5', { jobs => \@jobs });
my $want = SymAnswer::v5([map { \@modules } @want], \@want);
ok($r->{body} eq $want, 'eight modules, three jobs of four stacks')
    or SymAnswer::differs($r->{body}, $want);

# --- one job without its wrapping is the same ---

$r = $t->post_json('/symbolicate/v5', $jobs[0]);
$want = SymAnswer::v5([\@modules], [$want[0]]);
ok($r->{body} eq $want, 'a job at top level');

# --- modules without symbols ---

my $module = $modules[6];
$r = $t->post('/symbolicate/v5', $t->json({ jobs => [{
    stacks => [[[-1, 4096], [0, 16], [1, 0xabcdef], [2, -1], [2, 5000000000],
        [4, 1]]],
    memoryMap => [['nothing.so', '0123456789ABCDEF0123456789ABCDEF0'],
        ['bad.id', 'ABC'], $module, ['unused', '00'], ['', 'AA'], $module],
}] }));
is($r->{body}, '{"results": [{"stacks": [['
    . '{"frame": 0, "module": "<unknown>", "module_offset": "0x1000"}, '
    . '{"frame": 1, "module": "nothing.so", "module_offset": "0x10"}, '
    . '{"frame": 2, "module": "bad.id", "module_offset": "0xabcdef"}, '
    . '{"frame": 3, "module": "overflow", "module_offset": "-0x1"}, '
    . '{"frame": 4, "module": "overflow", "module_offset": "0x12a05f200"}, '
    . '{"frame": 5, "module": "<unknown>", "module_offset": "0x1"}'
    . ']], "found_modules": {'
    . '"nothing.so/0123456789ABCDEF0123456789ABCDEF0": false, '
    . '"bad.id/ABC": false, '
    . '"overflow/B0E1FC01EF48E39CAF5C881D2DF0C3840": true, '
    . '"unused/00": null, "/AA": null}}]}',
    'unknown module, bad id, odd offsets, unused module');

# --- one id in several spellings ---

my $offset = $asked{'overflow'}[0]{addr};
my $id = $module->[1];
my $first = $t->post_json('/symbolicate/v5',
    { stacks => [[[0, $offset]]], memoryMap => [[@$module]] })
    ->{json}{results}[0]{stacks};
for my $spelling (lc $id, substr($id, 0, 32) . '00') {
    $r = $t->post_json('/symbolicate/v5',
        { stacks => [[[0, $offset]]], memoryMap => [['overflow', $spelling]] });
    is_deeply($r->{json}{results}[0]{stacks}, $first, "found as $spelling");
    is_deeply($r->{json}{results}[0]{found_modules},
        { "overflow/$spelling" => JSON::PP::true }, "named as $spelling");
}

is($t->post_json('/symbolicate/v5', { jobs => [] })->{body},
    '{"results": []}', 'no job at all');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
