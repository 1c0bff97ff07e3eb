# A symbol file that was replaced, or arrived late, must be usable before a
# negative entry expires or the old symbols are evicted: DELETE makes the store
# forget the module, and the next request of any worker fetches it again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $t = SymFolder->new(workers => 2)->start;
my @module = ('a.so', SymFolder::id(0xa1));

# --- a replaced file ---

$t->upload(@module, prefix => 'old');
is($t->function($t->ask(\@module)), 'old0', 'fetched');
is($t->function($t->ask(\@module)), 'old0', 'and kept');

$t->upload(@module, prefix => 'new');
is($t->function($t->ask(\@module)), 'old0', 'a replaced file is not noticed');

my $r = $t->forget(@module);
is($r->{status}, 200, 'DELETE');
is_deeply($r->{json}, { removed => JSON::PP::true }, '... removed it');
is($r->{headers}{'content-type'}, 'application/json', '... says so in JSON');
ok(!$t->store_has(@module), 'the store no longer has it');
is($t->function($t->ask(\@module)), 'new0',
    'the next request gets the new file');

$t->forget(@module);
is_deeply($t->forget(@module)->{json}, { removed => JSON::PP::false },
    'nothing to remove');

# --- negative entries ---

my @late = ('late.so', SymFolder::id(0xa2));
is($t->function($t->ask(\@late)), 'false', 'no source has it');
$t->upload(@late);
is($t->function($t->ask(\@late)), 'false', 'uploaded, but known as absent');
is_deeply($t->forget(@late)->{json}, { removed => JSON::PP::true },
    'the negative entry is forgotten');
is($t->function($t->ask(\@late)), 'f0', 'and then it is found');

my @bad = ('bad.so', SymFolder::id(0xa3));
$t->upload(@bad, text => "MODULE Linux x86_64 $bad[1] bad.so\nFUNC zz\n");
is($t->function($t->ask(\@bad)), 'false', 'a broken file');
$t->upload(@bad);
is($t->function($t->ask(\@bad)), 'false', 'repaired, but known as malformed');
is_deeply($t->forget(@bad)->{json}, { removed => JSON::PP::true },
    'forgotten');
is($t->function($t->ask(\@bad)), 'f0', 'and then it is read');

# --- names and ids ---

my @odd = ('libodd c++.so', SymFolder::id(0xabc));
$t->upload(@odd);
is($t->function($t->ask(\@odd)), 'f0', 'a name that is encoded in paths');
is_deeply(
    $t->request('DELETE', '/admin/cache/libodd%20c++.so/' . lc $odd[1])->{json},
    { removed => JSON::PP::true },
        'by its decoded name, with the id in lower case');

$t->ask(\@odd);
(my $zeros = $odd[1]) =~ s/1\z/00001/;
is_deeply($t->forget('libodd%20c%2B%2B.so', $zeros)->{json},
    { removed => JSON::PP::true }, 'zeros before the age');

# --- every worker sees it at once ---

my @kept = map { $t->connect } 1 .. 16;
my $ask = $t->request_text('POST', '/symbolicate/v5', keepalive => 1,
    body => $t->question(\@module));

sub ask_all {
    my %seen;
    for my $socket (@kept) {
        $t->send_all($socket, $ask);
        $seen{$t->function($t->response($socket))}++;
    }
    return join ' ', sort keys %seen;
}

# connections to both, because a test of one worker would prove nothing
sub workers_of_connections {
    my %pids;
    for my $socket (@kept) {
        my $port = $socket->sockport;
        for my $pid ($t->workers) {
            $pids{$pid} = 1 if holds($pid, $port);
        }
    }
    return scalar keys %pids;
}

# Whether the process has the connection from this port.
sub holds {
    my ($pid, $port) = @_;
    my $peer = sprintf '%04X', $port;
    my %inodes = map { (split)[9] => 1 }
        grep { (split)[2] =~ /:$peer\z/ } split /\n/,
        SymTest::slurp('/proc/net/tcp');
    return grep { (readlink // '') =~ /^socket:\[(\d+)\]/ && $inodes{$1} }
        glob "/proc/$pid/fd/*";
}

is(ask_all(), 'new0', 'all connections get the same answer');
while (@kept < 200 && workers_of_connections() < 2) {
    push @kept, $t->connect;
    ask_all();
}
is(workers_of_connections(), 2, 'connections to both workers');

for my $n (1 .. 20) {
    $t->upload(@module, prefix => "try$n");
    $t->forget(@module);
    my $all = ask_all();
    is($all, "try${n}0", "replaced $n times, seen by all") if $n % 5 == 0;
    last if $all ne "try${n}0";
}

close $_ for @kept;
is($t->end, '', 'the logs are clean');

done_testing();
