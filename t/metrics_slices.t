# The figures of a store need a pass over all its records.  Other requests are
# answered meanwhile, scrapes share the pass, and whatever happens to client,
# store or nginx during it, the page arrives and nothing leaks.  The state at
# the moment of an event depends on the load of the machine, so each case is
# repeated until it has occurred.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymLoader qw(sym_text);
use SymTest;
use Test::More;

use File::Path qw(remove_tree);
use IO::Select;
use Time::HiRes qw(time);

my $MODULES = 2000;
my $ROUNDS = 50;
my $FEW = 5;

my $t = SymTest->new->allow(qr/\[crit\].*symbol store/);
my $n = 0;

sub id {
    my ($i) = @_;
    return sprintf '%032X1', $i;
}

sub symbol_file {
    my ($folder) = @_;
    my $name = 'm' . ++$n . '.so';
    open my $out, '>', "$folder/$name.sym" or die "$name: $!";
    print $out sym_text($name, id($n));
    close $out;
    return "$folder/$name.sym";
}

my $folder = $t->dir . '/many';
mkdir $folder or die "$folder: $!";
symbol_file($folder) for 1 .. $MODULES;
$t->load($folder);

# one record in a turn
$t->conf(locations => <<'CONF')->start;
        location /symbolicate { symbolicate; }
        location /__          { symbolicate_health; }
        location /metrics     { symbolicate_metrics; symbolicate_slice 1; }
CONF

# The store's state on the page: undef if it is not shown.
sub modules {
    my ($r) = @_;
    $r->{status} == 200 or BAIL_OUT('no page: ' . $t->error_log);
    return ($r->{body} =~ /^symbolicate_store_modules\{[^}]*"ready"\} (\d+)$/m)[0];
}

sub scrape { return modules($t->request('GET', '/metrics')) }

# A scrape that the worker has begun: connections are handled in order, so a
# later one is done.
sub begin_scrape {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('GET', '/metrics'));
    $t->request('GET', '/__lbheartbeat__');
    return $socket;
}

sub is_under_way { return !IO::Select->new($_[0])->can_read(0) }

# Starts another worker: the previous one may have figures that are valid for a
# second.
sub fresh {
    my @old = $t->workers;
    $t->reload;
    $t->wait_for(sub { !grep { $_ == $old[0] } $t->workers },
        'the old worker is gone');
    return;
}

# Repeats until the case has occurred; it returns what happened instead.
sub meet {
    my ($what, $case) = @_;
    for (1 .. $ROUNDS) {
        return pass($what) if $case->();
        fresh();
    }
    return fail("$what: in $ROUNDS rounds");
}

# --- other requests are answered meanwhile ---

is(scrape(), $MODULES, 'all modules are counted');

my $body = $t->json({ jobs => [{ memoryMap => [['m1.so', id(1)]],
    stacks => [[[0, 0x1000], [0, 0x1040]]] }] });

meet("$FEW requests are answered while the page is made", sub {
    fresh();
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('GET', '/metrics'));
    my $keep = $t->connect;
    my $answered = 0;
    while ($answered <= $FEW && is_under_way($socket)) {
        $t->send_all($keep, $t->request_text('POST', '/symbolicate/v5',
            body => $body, keepalive => 1));
        $t->raw_response($keep)->{body} =~ /"f1"/ or die 'no answer';
        $answered++;
    }
    is(modules($t->response($socket)), $MODULES, '... all are counted');
    return $answered > $FEW;
});

# --- a walk is shared ---

fresh();
my @scrapes = map { begin_scrape() } 1 .. 20;
is_deeply([map { modules($t->response($_)) } @scrapes],
    [($MODULES) x @scrapes], 'many scrapes at a time');

my $had = $MODULES;
# under valgrind a single pass may take longer
SymTest::is_valgrind() or meet('the result is valid for a second', sub {
    fresh();
    my $begun = time;
    my $first = scrape();
    $t->load(symbol_file($folder));
    my $second = scrape();
    return if time - $begun > 0.9;
    is($second, $first, '... the same numbers');
    return 1;
});
ok($t->wait_for(sub { scrape() == $n }, 'new figures'), '... but not for ever');

# --- the client leaves ---

meet('a client that leaves is noticed', sub {
    my $socket = begin_scrape();
    my $under_way = is_under_way($socket);
    close $socket;
    $t->request('GET', '/__lbheartbeat__');
    return $under_way && $t->access_log =~ m{code=499 uri=/metrics};
});
is(scrape(), $n, '... the next has all figures');

my @two;
meet('one of two leaves', sub {
    @two = (begin_scrape(), begin_scrape());
    my $under_way = is_under_way($two[0]);
    close $two[0];
    is(modules($t->response($two[1])), $n, '... the other gets its page');
    return $under_way;
});

# --- the store changes ---

my $data = $t->store . '/data.mdb';

# valgrind handles the faults itself
if (!SymTest::is_valgrind()) {
    my $whole = SymTest::slurp($data);
    my @workers = $t->workers;

    meet('the store is damaged meanwhile', sub {
        @workers = $t->workers;
        my $socket = begin_scrape();
        my $under_way = is_under_way($socket);
        truncate $data, 8192 or die "truncate: $!";
        my $found = modules($t->response($socket));
        open my $out, '+<:raw', $data or die "$data: $!";
        print $out $whole;
        close $out or die "$data: $!";
        return $under_way && !defined $found;
    });
    is_deeply([$t->workers], \@workers, '... the worker survives');
    ok($t->wait_for(sub { (scrape() // 0) == $n }, 'it is repaired'),
        '... and the store is up again');
}

# --- the worker is told to quit ---

fresh();
my @old = $t->workers;
my $socket = begin_scrape();
$t->signal('HUP');
is(modules($t->response($socket)), $n, 'a reload meanwhile: the page comes');
ok($t->wait_for(sub { !grep { $_ == $old[0] } $t->workers },
    'the old worker is gone'), '... and the worker exits');

# --- the store is another ---

fresh();
$socket = begin_scrape();
remove_tree($t->store);
$t->load(symbol_file($folder));
my $found = modules($t->response($socket));
ok(!defined $found || $found == $n - 1,
    'replaced meanwhile: the old figures, or none');
ok($t->wait_for(sub { (scrape() // 0) == 1 }, 'the new one is counted'),
    '... the new one is counted');

is($t->stop->log_trouble, '', 'the log is clean');

done_testing();
