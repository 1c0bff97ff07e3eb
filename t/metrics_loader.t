# nginx's page includes the figures of the loader, so that there is one page to
# scrape.  The counts are exact, and a loader that is stopped, gone or an
# impostor costs the page at most a second, and only its own rows.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymLoader qw(sym_text);
use SymMetrics qw(parse_page);
use SymStranger qw(stranger can_read hear welcome say);
use Test::More;

use IO::Select;
use List::Util qw(min);
use Time::HiRes qw(time);

my ($STAT, $DONE, $STATS) = (8, 68, 69);    # docs/formats/loader-protocol.md

my $t = SymFolder->new(held => 1);
my $loader = $t->loader;
my $path = $loader->socket_path;
my $locations = $t->{parts}{locations}
    . 'location /metrics { symbolicate_metrics; }';
$t->conf(locations => $locations)->start;

# The rows of a loader, without its label; from the others only the requested
# ones.
sub rows {
    my ($value, $of) = @_;
    my %row;
    for my $key (keys %$value) {
        my $name = $key =~ s/,?\{loader=\Q$of\E\}//r;
        $row{$name =~ s/^loader_//r} = $value->{$key} if $name ne $key;
    }
    return \%row;
}

sub page {
    my ($r) = @_;
    is($r->{status}, 200, 'the page exists') or diag($t->error_log);
    my ($value) = parse_page($r->{body});
    return $value;
}

# A page waits a second for a loader.  After that, the loader may be missing
# because the machine is busy, and the next page will have it.
my $WAIT = 0.9;
my $TRIES = 20;

sub scrape {
    my $row;
    for (1 .. $TRIES) {
        my $begun = time;
        $row = rows(page($t->request('GET', '/metrics')), $path);
        last if $row->{up} || time - $begun < $WAIT;
    }
    return $row;
}

# A scrape that the worker has begun: connections are handled in order, so a
# later one is done.
sub begin_scrape {
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('GET', '/metrics'));
    $t->request('GET', '/__lbheartbeat__');
    return $socket;
}

sub is_waiting { return !IO::Select->new($_[0])->can_read(0) }

# A scrape that is known to wait.
sub waiting_scrape {
    my ($begin) = @_;
    my $socket;
    for (1 .. $TRIES) {
        $socket = $begin->();
        last if is_waiting($socket);
        page($t->response($socket));
        close $socket;
    }
    return $socket;
}

# Rows that are neither histograms nor constants of the store.
sub counts {
    my ($row) = @_;
    return { map { $_ => $row->{$_} }
        grep { !/^(conversion_seconds|temp_room_bytes)/ } keys %$row };
}

sub conversions {
    my (%n) = @_;
    return map {
        my $format = $_;
        map {
            ("conversions_total{format=$format},{outcome=$_}" =>
                $format eq 'breakpad' ? $n{$_} // 0 : 0)
        } qw(ready malformed failed)
    } qw(unknown breakpad elf macho pe pdb sourcebundle ppdb wasm proguard sourcemap script symbfile artifact minidump upload);
}

my %zero = (up => 1, clients => 1, conversions(), map { $_ => 0 } qw(flights
    waiting elections_total re_elections_total joins_total fetches_running
    lease_bytes conversions_running invalidations_total aged_total
    supplement_fetches_total supplement_bytes swift_names_mangled_total
    unusable_shares_total share_bytes));

# --- before the first request ---

my $begun = time;
my $row = scrape();
is_deeply(counts($row), \%zero, 'a loader that has done nothing');
is($row->{'conversion_seconds_bucket{le=+Inf}'}, 0, '... which took no time');
is($row->{conversion_seconds_count}, 0, '... without a conversion');
is($row->{conversion_seconds_sum}, 0, '... at all');
is(scalar(grep {/^conversion_seconds_bucket/} keys %$row), 23,
    'bounds of the histogram');

# --- real conversions ---

my $n = 0;

# One module through nginx; its source answers as given.
sub fetch {
    my ($status, $text) = @_;
    my @module = ('m' . ++$n . '.so', SymFolder::id($n));
    my $socket = $t->begin(\@module);
    $t->answer($t->asked, $status, $text // sym_text(@module));
    return $t->function($t->finish($socket));
}

is(fetch(200), 'f0', 'a module') for 1 .. 3;
is(fetch(200, "MODULE Linux x86_64 1 m.so\nFUNC zz\n"), 'false',
    'a broken file');
is(fetch(200, sym_text('other.so', SymFolder::id(99))), 'false',
    'another one');
is(fetch(404, ''), 'false', 'absent: nothing to convert');
is(fetch(500, ''), 503, 'failed: nothing to convert either');
is($t->forget('m1.so', SymFolder::id(1))->{status}, 200, 'one is forgotten');

$row = scrape();
my %done = (%zero, conversions(ready => 3, malformed => 2),
    elections_total => 7, invalidations_total => 2);
is_deeply(counts($row), \%done, 'all of it is counted');
is($row->{'conversion_seconds_bucket{le=+Inf}'}, 5, 'conversions took time');
is($row->{conversion_seconds_count}, 5, '... all of them');
cmp_ok($row->{conversion_seconds_sum}, '>', 0, '... more than zero');
cmp_ok($row->{conversion_seconds_sum}, '<', 2 * (time - $begun),
    '... and not more than two converters had');
is($row->{temp_room_bytes}, $loader->stats->{temp_room_bytes},
    'the room that another client is told');
$done{clients} = 2;

# --- modules in flight ---

my $worker = $loader->client;
my @lost = ('lost.so', SymFolder::id(1000));
$worker->send(ENSURE => ticket => 1, key => join('/', @lost),
    scope => 'folder', layout => 0, files => 1 << 3);    # like nginx: breakpad
is($worker->recv->{type}, 'FETCH',
    'another client is elected to fetch');
my $socket = $t->begin(\@lost);
$loader->wait_stat(joins => 1);
is_deeply(counts(scrape()), { %done, clients => 3, flights => 1, waiting => 2,
    joins_total => 1, elections_total => 8, fetches_running => 1,
    lease_bytes => 1 << 20 }, 'a fetch that two wait for');

$worker->close;
my $source = $t->asked;
is_deeply(counts(scrape()), { %done, flights => 1, waiting => 1,
    joins_total => 1, elections_total => 9, re_elections_total => 1,
    fetches_running => 1, lease_bytes => 1 << 20 },
    'one client is lost, and nginx is elected');
$t->answer($source, 200, sym_text(@lost));
is($t->function($t->finish($socket)), 'f0', 'which it does');
%done = (%done, conversions(ready => 4, malformed => 2), joins_total => 1,
    elections_total => 9, re_elections_total => 1);
is_deeply(counts(scrape()), \%done, 'nothing is in flight now');

# --- a loader that does not answer ---

sub is_away {
    my ($r, $what) = @_;
    my $value = page($r);
    is_deeply(rows($value, $path), { up => 0 }, "$what: only that it is down");
    is($value->{"store_up{store=${\$t->store}}"}, 1, '... and all the rest');
    return;
}

kill 'STOP', $loader->pid;
my @took;
for (1 .. 3) {
    $begun = time;
    is_away($t->request('GET', '/metrics'), 'it hangs');
    push @took, time - $begun;
}
cmp_ok(min(@took), '>=', 0.95, 'the page waited a second');
cmp_ok(min(@took), '<', 5, '... and not much more') if !SymTest::is_slow();

$socket = waiting_scrape(\&begin_scrape);
ok($socket->opened, 'a scrape waits, other requests do not');
close $socket;
$t->wait_for(sub { $t->access_log =~ m{code=499 uri=/metrics} },
    'a client that goes away is noticed');
like($t->access_log, qr{code=499 uri=/metrics}, 'a client goes away');

# --- reload while one waits ---

my @old = $t->workers;
$socket = begin_scrape();
$t->reload;
is_away($t->response($socket), 'a reload meanwhile');
close $socket;
$t->wait_for(sub { !grep { $_ == $old[0] } $t->workers },
    'the old worker is gone');

kill 'CONT', $loader->pid;
is_deeply(counts(scrape()), \%done,
    'it continues: late answers do no harm, no connection is left');

# --- the loader exits, and comes back ---

$t->loader_stop;
is_away($t->request('GET', '/metrics'), 'it is gone');
is($t->request('HEAD', '/metrics')->{status}, 200, 'HEAD');

$t->loader_start;
$t->wait_for(sub {
    my ($value) = parse_page($t->request('GET', '/metrics')->{body});
    return $value->{"loader_up{loader=$path}"} == 1;
}, 'a new one is up');
is_deeply(counts(scrape()), \%zero, 'a new one starts from zero');

# --- it stops while a page waits ---

kill 'STOP', $loader->pid;
$socket = begin_scrape();
kill 'KILL', $loader->pid;
is_away($t->response($socket), 'it dies');
close $socket;
is($loader->wait_end->{signal}, 9, 'it was killed');
$t->loader_start;

# --- two loaders, one of them an impostor ---

my $stranger = $t->dir . '/stranger';
my $listen = stranger($stranger);
$t->conf(locations => "$locations location /x { symbolicate; "
    . "symbolicate_loader unix:$stranger; }");
$t->write_conf;
@old = $t->workers;
$t->reload;
$t->wait_for(sub { !grep { $_ == $old[0] } $t->workers },
    'the old worker is gone');

sub say_stats {
    my ($c, $text) = @_;
    my ($ticket) = hear($c, $STAT);
    say($c, $STATS, 'Vv/a*', $ticket, $text);
    return;
}

my $c;

# The page when an impostor sends this.
sub told {
    my ($text) = @_;
    my $value;
    for (1 .. $TRIES) {
        my $begun = time;
        my $scrape = begin_scrape();
        $c //= welcome(can_read($listen)->accept);
        say_stats($c, $text);
        $value = page($t->response($scrape));
        close $scrape;
        last if time - $begun < $WAIT;
    }
    ok(!grep({/injected/} %$value), 'only numbers of it');
    return rows($value, $stranger), rows($value, $path);
}

my ($strange, $ours) = told("joins 7\ninjected 3\ninjected\"} 4\nclients 2\n");
is_deeply($strange, { up => 1, joins_total => 7, clients => 2 },
    'known values are shown');
is($ours->{up}, 1, '... beside ours');
is(scalar keys %$ours, scalar keys %$row, '... and all of them are');

for my $text ("joins 7\nclients 2\"} 1\ninjected 1\n", "joins 7\njoins 8\n",
    "clients -1\n", "clients 1e3\n", "clients 5",
    "clients 99999999999999999999\n")
{
    ($strange, $ours) = told($text);
    is_deeply($strange, { up => 0 }, 'an invalid text is not used');
    is($ours->{up}, 1, '... but that of the real loader is');
}
like($t->error_log, qr/"unix:\Q$stranger\E": its statistics cannot be read/,
    'the log reports it');

my $ticket;
my $scrape = waiting_scrape(sub {
    my $socket = begin_scrape();
    ($ticket) = hear($c, $STAT);
    return $socket;
});
ok($scrape->opened, 'one has answered, the other not: the page waits');
say($c, $STATS, 'Vv/a*', $ticket + 1, "joins 1\n");
say($c, $DONE, 'VVv4', $ticket, 0, 0, 0, 0, 0);
is_deeply(rows(page($t->response($scrape)), $stranger), { up => 0 },
    'answers to other requests are ignored');
close $scrape;

$scrape = begin_scrape();
hear($c, $STAT);
close $c;
is_deeply(rows(page($t->response($scrape)), $stranger), { up => 0 },
    'it exits without an answer');
close $scrape;

# --- nginx exits while a page waits ---

kill 'STOP', $loader->pid;
$scrape = begin_scrape();
$t->signal('QUIT');
is_away($t->response($scrape), 'nginx ends');
close $scrape;
kill 'CONT', $loader->pid;

is($t->end, '', 'the logs are clean');

done_testing();
