# Twenty reloads while modules are fetched and stored ones are requested: no
# request fails, and nothing is left over: no worker, reader slot, descriptor,
# temporary file or connection.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $t = SymFetch->new(workers => 2)->start;
my @known = ('known.so', SymFetch::id(1));
my $missing = 400;
my @first_workers = $t->workers;

$t->upload(@known);
$t->upload("c$_.so", SymFetch::id(1000 + $_)) for 1 .. $missing;
$t->fault->script('src', 'ok');
$t->ask([@known]) for 1 .. 20;

sub readers {
    my ($n) = $t->symloader('stat', '--json') =~ /"readers":\s*(\d+)/;
    return $n;
}

my $enough = $t->dir . '/enough';

# Sends requests until the test has seen enough; prints a line for each wrong
# answer.
sub client {
    my ($step) = @_;
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork;
    if (!$pid) {
        $out->autoflush(1);
        my $n = 0;
        while (!-e $enough) {
            my $i = $step + 4 * $n++;
            my @miss = $step == 0 || $i > $missing ? ()
                : ["c$i.so", SymFetch::id(1000 + $i)];
            my $r = eval { $t->ask([@known], @miss) } || {};
            my $good = ($r->{status} // 0) == 200
                && !grep { !$t->found($r, @$_) } [@known], @miss;
            print $out $good ? '.' : '[' . ($r->{status} // 'none') . ' '
                . ($r->{body} // $@) . ']';
        }
        POSIX::_exit(0);
    }
    close $out;
    return { pid => $pid, in => $in };
}

my $loader_before = SymFetch::descriptors($t->loader->pid);
my @clients = map { client($_) } 0 .. 3;
my %old;
for (1 .. 20) {
    $old{$_} = 1 for $t->workers;
    $t->reload;
    sysread $_->{in}, my $some, 1 for @clients;
}
open my $mark, '>', $enough or die "$enough: $!";
close $mark;
for my $client (@clients) {
    local $/;
    my $marks = readline $client->{in};
    waitpid $client->{pid}, 0;
    like($marks, qr/^\.*\z/, 'no request failed: ' . length $marks);
}

# some workers exit before they can be counted
$t->wait_for(sub { scalar($t->workers) == 2 }, 'old workers are gone');
is(scalar(grep { $old{$_} } $t->workers), 0, 'the old workers are gone');
is(scalar($t->workers), 2, 'two are there');

# Each worker gets a request; after that no request is in progress.
$t->ask([@known]) for 1 .. 20;
$t->wait_for(sub { $t->loader->stats->{clients} <= 3 }, 'connections to the daemon');
cmp_ok($t->loader->stats->{clients}, '<=', 3,
    'the clients of the daemon are one per worker, and this test');
is($t->loader->stats->{$_}, 0, "... no $_")
    for qw(flights waiting lease_bytes conversions_running);
# those of its clients, which did not exist at the beginning
ok($t->wait_for(sub {
    SymFetch::descriptors($t->loader->pid) <= $loader_before + 3;
}, 'descriptors of the daemon'), '... no descriptor is left open');
# its own: valgrind has some, too
my $ours = quotemeta $t->dir;
for my $pid ($t->workers) {
    my @deleted = grep { (readlink($_) // '') =~ m{^$ours/.*\(deleted\)} }
        glob "/proc/$pid/fd/*";
    is_deeply(\@deleted, [], 'a worker has no deleted file open');
}
cmp_ok(readers(), '<=', 3, 'slots of readers: workers and the daemon');
is_deeply([$t->temp_files], [], 'no temporary file');
is($t->loader->verify, 'sound', 'the store is sound');
is($t->fault->count, $t->fault->stats->{total}{done}, 'no download is open');

is($t->end, '', 'nothing is wrong');

done_testing();
