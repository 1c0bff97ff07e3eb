# One byte of a module's symbols is not what was written, and every offset still
# leads somewhere: its answers would be wrong, and nobody would know.  They go
# without names instead, the heartbeat says so, and the module is well when it is
# loaded again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

my @module = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');
my $file = SymTest::symbol_file(@module);
my $t = SymTest->new(workers => 1)->load($file)
    ->allow(qr/\[crit\].*symbol store/)->start;
my $body = $t->json({ jobs => [{ memoryMap => [[@module]],
    stacks => [[map { [0, ($_ * 7919) % 3_000_000] } 1 .. 400]] }] });

sub names {
    my $r = $t->post('/symbolicate/v5', $body);
    return [map { $_->{function} } @{$r->{json}{results}[0]{stacks}[0]}];
}

sub heartbeat { return $t->request('GET', '/__heartbeat__')->{status} }

my $want = names();
cmp_ok(scalar(grep { defined } @$want), '>', 100, 'symbols are there');
is(heartbeat(), 200, 'the heartbeat is well');

# The first extent is written last.  One byte of the middle of each page of some
# others: what a disk that lost its mind, or a stray write, would do.
my $data = $t->store . '/data.mdb';
my $whole = SymTest::slurp($data);
my $at = index $whole, 'SYMC';
cmp_ok($at, '>', 0, 'the first extent is found in the file');
open my $out, '+<:raw', $data or die "$data: $!";
for my $place (map { $at + $_ * 4096 + 2000 } -150 .. -4) {
    next if $place < 4 * 4096 || $place >= length $whole;
    seek $out, $place, 0;
    print $out chr(ord(substr $whole, $place, 1) ^ 0x15);
}
close $out;

# a worker that has met none of it yet
my ($old) = $t->workers;
$t->reload;
$t->wait_for(sub { !grep { $_ == $old } $t->workers }, 'the old one is gone');
my $got = names();
my ($wrong, $nameless) = (0, 0);
for my $i (0 .. $#$want) {
    next if !defined $want->[$i];
    $nameless++ if !defined $got->[$i];
    $wrong++ if defined $got->[$i] && $got->[$i] ne $want->[$i];
}
is($wrong, 0, 'damaged: no name is wrong');
cmp_ok($nameless, '>', 0, '... some are not there');
is(heartbeat(), 503, '... the heartbeat says so');
like($t->error_log, qr/a lookup met damaged bytes/, '... and the log');

# --- the module comes anew ---

$t->symloader('rm', join '/', @module);
is(heartbeat(), 200, 'the module is removed: nothing damaged is left');
$t->load($file);
is_deeply(names(), $want, 'loaded again: all names');
is(heartbeat(), 200, '... the heartbeat is well');

is($t->stop->log_trouble, '', 'no other trouble in the log');

done_testing();
