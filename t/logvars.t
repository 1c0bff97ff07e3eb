# Operators watch the service through the access log: how many frames, how many
# modules without symbols, how long the lookups took, and the outcome.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('overflow', 'B0E1FC01EF48E39CAF5C881D2DF0C3840');
my $t = SymTest->new->load(SymTest::symbol_file(@module))
    ->conf(server => 'client_max_body_size 20k;')->start;

# The last line, once it exists: nginx writes it after the answer is sent.  The
# first line is from the harness, which waited for nginx to answer.
my $lines = 1;

sub last_line {
    $lines++;
    $t->wait_for(sub { (() = $t->access_log =~ /\n/g) >= $lines },
        'a line in the access log');
    my ($line) = $t->access_log =~ /([^\n]*)\n\z/;
    return { $line =~ /(\w+)=(\S+)/g };
}

$t->post_json('/symbolicate/v5', { jobs => [
    { stacks => [[[0, 4096], [1, 5], [2, 5]], [[-1, 7]]],
        memoryMap => [[@module], ['a', 'A' x 33], ['b', 'B' x 33],
            ['c', 'C' x 33]] },
    { stacks => [[[0, 1]]], memoryMap => [['a', 'A' x 33]] },
] });
my $v = last_line();
is($v->{status}, 'ok', 'answered');
is($v->{frames}, 5, 'frames of all stacks of all jobs');
is($v->{modules}, 3, 'distinct modules that a frame refers to');
is($v->{missing}, 2, 'those without symbols');
like($v->{lookup_us}, qr/^\d+$/, 'microseconds of lookup');

$t->post_json('/symbolicate/v4',
    { stacks => [[[0, 4096]]], memoryMap => [[@module]] });
$v = last_line();
is("@$v{qw(status frames modules missing)}", 'ok 1 1 0', 'v4');

$t->post('/symbolicate/v5', '{');
is(last_line()->{status}, 'invalid', 'bad JSON');

$t->post('/symbolicate/v5', ' ' x 30_000);
is(last_line()->{status}, 'too_large', 'too large');

$t->post('/symbolicate/v5', '{}', 'Content-Encoding' => 'br');
is(last_line()->{status}, 'unsupported', 'unknown encoding');

$t->request('GET', '/symbolicate/v5');
$v = last_line();
is("@$v{qw(status frames modules missing lookup_us)}", '- - - - -',
    'not a request for symbols: empty');

# a time that grows with the work: 15,000 frames take measurable time
$t->stop;
$t = SymTest->new->load(SymTest::symbol_file(@module))->start;
$lines = 1;
$t->post_json('/symbolicate/v5', { memoryMap => [[@module]],
    stacks => [[map { [0, 4096 + $_] } 1 .. 15_000]] });
$v = last_line();
is($v->{frames}, 15_000, 'many frames');
cmp_ok($v->{lookup_us}, '>', 50, 'took some time');
cmp_ok($v->{lookup_us}, '<', 60_000_000, 'but not a minute');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
