# An operator's page may be the first to read a damaged part of the store.  It
# answers 503, and the worker drops its handle, so that the next request gets a
# good one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

plan skip_all => 'valgrind handles the faults itself' if SymTest::is_valgrind();

my @module = ('test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1');
my $t = SymTest->new(workers => 1)
    ->load(SymTest::symbol_file(@module))
    ->conf(server => 'symbolicate_missing on;'
        . ' location /admin { symbolicate; symbolicate_admin on; }')
    ->allow(qr/\[crit\].*symbol store/)->start;
my $body = $t->json({ jobs => [{ memoryMap => [[@module]],
    stacks => [[map { [0, 16 * $_] } 1 .. 400]] }] });
my $data = $t->store . '/data.mdb';
my $metas = substr(SymTest::slurp($data), 0, 2 * 4096);

sub write_metas {
    my ($bytes) = @_;
    open my $out, '+<:raw', $data or die "$data: $!";
    print $out $bytes;
    close $out or die "$data: $!";
}

my $want = $t->post('/symbolicate/v5', $body)->{body};
like($want, qr/"function"/, 'symbols are there');
$t->post('/symbolicate/v5', $t->json({ jobs => [{ stacks => [[[0, 1]]],
    memoryMap => [['absent.so', '0' x 33]] }] }));

for my $page ("explain/$module[0]/$module[1]", 'modules', 'missing') {
    is($t->request('GET', "/admin/$page")->{status}, 200, "$page");

    # a store larger than the address space
    write_metas("\x5a" x length $metas);
    is($t->request('GET', "/admin/$page")->{status}, 503, '... 503 if the store is damaged');
    write_metas($metas);
    my $r = $t->post('/symbolicate/v5', $body);
    is($r->{status}, 200, '... and the store is open again');
    is($r->{body}, $want, '... with all its answers');
}

like($t->error_log, qr/\[crit\].*cannot remap the store/, 'the log names the cause');
is($t->stop->log_trouble, '', 'no other error in the log');

done_testing();
