# Disks fail and people overwrite files.  Whatever the pages of the store
# contain, a worker must survive: it answers without the names, or 503, logs it
# once and not for each request, and recovers with the store.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymTest;
use Test::More;

use File::Path qw(remove_tree);

plan skip_all => 'valgrind handles the faults itself' if SymTest::is_valgrind();

my @module = ('crash-client', '509C0610949836F7B70BD88BCF03E5400');
my @second = ('test_app.pdb', '5A9832E5287241C1838ED98914E9B7FF1');

my $t = SymTest->new(workers => 2)
    ->load(map { SymTest::symbol_file(@$_) } \@module, \@second)
    ->conf(server => 'symbolicate_slice 100;')
    ->allow(qr/\[crit\].*symbol store/)->start;

sub body_of {
    my ($frames, $seed) = @_;
    srand $seed;
    return $t->json({ jobs => [{ memoryMap => [[@module], [@second]],
        stacks => [[map { [$_ % 2, int rand 0x300000] } 1 .. $frames]] }] });
}

my @bodies = map { body_of($_ % 2 ? 20 : 3000, $_) } 1 .. 6;
my @want = map { $t->post('/symbolicate/v5', $_)->{body} } @bodies;
like($want[0], qr/"function"/, 'symbols are there');

my @workers = sort $t->workers;
my $data = $t->store . '/data.mdb';
my $size = -s $data;
my $whole = SymTest::slurp($data);

sub write_at {
    my ($at, $bytes) = @_;
    open my $out, '+<:raw', $data or die "$data: $!";
    seek $out, $at, 0;
    print $out $bytes;
    close $out;
}

# Every answer is JSON and 200, or 503; returns the number of both.
sub load {
    my %seen;
    for my $body (@_ ? @_ : @bodies) {
        my $r = $t->post('/symbolicate/v5', $body);
        my $status = $r->{status} || 'none';
        $seen{$status}++;
        $seen{odd}++ unless $status eq '200' && $r->{json}{results}[0]{stacks}
            || $status eq '503' && $r->{json}{title};
    }
    return \%seen;
}

# Replaces the store by another one; all answers must be as at the start.
sub replace_store {
    remove_tree($t->store);
    $t->load(map { SymTest::symbol_file(@$_) } \@module, \@second);
    return $t->wait_for(sub {
        my $good = grep { $t->post('/symbolicate/v5', $bodies[$_])->{body}
            eq $want[$_] } 0 .. $#bodies;
        return $good == @bodies;
    }, 'the new store is used');
}

my %seen;
my $seed = $ENV{SYM_SEED} || 1;
diag("SYM_SEED=$seed");
srand $seed;

sub tally {
    my ($seen) = @_;
    $seen{$_} += $seen->{$_} for keys %$seen;
}

# --- bytes flip under requests: more and more of the store is damaged ---

my $rounds = SymTest::is_slow() ? 10 : 60;
for my $round (1 .. $rounds) {
    srand $seed * 1000 + $round;
    my $page = 4096 * int rand($size / 4096);
    if ($round % 3 == 0) {
        write_at($page, "\xff" x 64);                       # a page header
    } elsif ($round % 3 == 1) {
        write_at($page + int(rand 4000), chr int rand 256);    # one byte
    } else {
        write_at($page, join '', map { chr int rand 256 } 1 .. 4096);
    }
    tally(load());
    # restored now and then, so that not all answers are 503 from here on
    write_at(0, $whole) if $round % 10 == 0;
}
ok(!$seen{none}, 'every request was answered');
ok(!$seen{odd}, 'with a proper answer');
ok($seen{200}, "some with 200: $seen{200}");
is_deeply([sort $t->workers], \@workers, 'no worker died');

# --- the tree's root and the meta pages ---

for my $page (0, 4096, 2 * 4096, $size - 4096) {
    write_at($page, "\x5a" x 4096);
    my $seen = load();
    ok(!$seen->{none} && !$seen->{odd}, "page at $page overwritten: answered");
    write_at(0, $whole);
}
is_deeply([sort $t->workers], \@workers, 'no worker died');

# --- a file that is shorter than its mapping: SIGBUS ---

# a worker has cached the frames that it answered, so these are others
ok(replace_store(), 'another store');
my @others = map { body_of(3000, 100 + $_) } 1 .. 6;
truncate $data, 8192 or die "truncate: $!";
my $seen = load(@others);
ok(!$seen->{none} && !$seen->{odd}, 'truncated: answered');
ok($seen->{503}, 'with 503');
truncate $data, 0 or die "truncate: $!";
$seen = load(@others);
ok(!$seen->{none} && !$seen->{odd}, 'emptied: answered');
is_deeply([sort $t->workers], \@workers, 'no worker died');

my $r = $t->request('GET', '/__heartbeat__');
is($r->{status}, 503, 'heartbeat says so');

my @lines = grep { /\[crit\].*symbol store/ } split /\n/, $t->error_log;
cmp_ok(scalar @lines, '>', 0, 'the log says so');
cmp_ok(scalar @lines, '<', 20, 'but not for each request');

# --- a good store again ---

ok(replace_store(), 'healed');
is_deeply([sort $t->workers], \@workers, 'by the same workers');

is($t->stop->log_trouble, '', 'no other error in the log');

done_testing();
