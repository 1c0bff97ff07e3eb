# The time that a request had to wait is reported: to the client in the debug
# block, to the operator in log variables, which show the requests that were
# slow because of downloads and those that got less than they asked for.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use SymLoader qw(sym_text);
use Test::More;
use Time::HiRes qw(time);

my $t = SymFolder->new(held => 1, how => 'symbolicate_on_failure partial;');
$t->{parts}{http} = <<'CONF';
    log_format figures 'fetched=$symbolicate_fetched wait=$symbolicate_wait_ms '
        'missing=$symbolicate_missing status=$symbolicate_status uri=$uri ';
    access_log %%DIR%%/logs/access.log figures;
CONF
$t->{parts}{locations} .= <<'CONF';
        location /strict { symbolicate; }
CONF
$t->start;
my $lines = 1;

sub last_line {
    $lines++;
    $t->wait_for(sub { (() = $t->access_log =~ /\n/g) >= 2 * $lines },
        'a line in both access logs');
    my @found = grep { /^fetched=/ } split /\n/, $t->access_log;
    return { $found[-1] =~ /(\w+)=(\S+)/g };
}

sub begin {
    my ($path, $modules, @headers) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', $path, headers => \@headers,
        body => $t->question(@$modules)));
    return $socket;
}

# Something that takes a measurable time.
sub while_it_waits {
    my $begun = time;
    while (time - $begun < 0.03) {
        $t->request('GET', '/__lbheartbeat__');
        $lines++;
    }
    return time - $begun;
}

my $n = 0;

for my $version (5, 4) {
    my @modules = map { ["m$n.so", SymFolder::id(0x100 + $n++)] } 1 .. 3;
    my @texts = map { sym_text(@$_, functions => 10 + $n++) } @modules;

    # the first is in the store when the others are requested
    my $socket = begin("/symbolicate/v$version", [$modules[0]]);
    $t->answer($t->asked, 200, $texts[0]);
    $t->finish($socket);
    last_line();

    my $begun = time;
    $socket = begin("/symbolicate/v$version", \@modules, Debug => 1);
    my @sources = ($t->asked, $t->asked);
    my $least = while_it_waits();
    # the order does not matter, because the files name their modules
    my %text = map { $modules[$_][0] => $texts[$_] } 1, 2;
    for my $c (@sources) {
        $t->answer($c, 200, $text{$t->name_asked($c)});
    }
    my $r = $t->finish($socket);
    my $most = time - $begun;
    my $debug = $r->{json}{debug};

    is($debug->{downloads}{count}, 2, "v$version: modules that were fetched");
    is($debug->{downloads}{size}, length($texts[1]) + length $texts[2],
        '... bytes of their files');
    cmp_ok($debug->{downloads}{time}, '>=', $least - 0.002,
        '... at least as long as the source took');
    cmp_ok($debug->{downloads}{time}, '<=', $most + 0.002,
        '... at most as long as the request');
    cmp_ok($debug->{time}, '>=', $debug->{downloads}{time},
        '... and all together not less');
    is($debug->{cache_lookups}{count}, 3, '... modules looked for');
    is($debug->{cache_lookups}{hits}, 1, '... one was there');

    my $v = last_line();
    is("@$v{qw(fetched missing status)}", '2 0 ok', "v$version: log variables");
    cmp_ok($v->{wait}, '>=', int($least * 1000) - 2,
        '... at least this many ms');
    cmp_ok($v->{wait}, '<=', $most * 1000 + 2, '... at most this many');

    $debug = $t->post("/symbolicate/v$version", $t->question(@modules),
        Debug => 1)->{json}{debug};
    is_deeply($debug->{downloads}, { count => 0, size => 0, time => 0 },
        "v$version: nothing to wait for the next time");
    is($debug->{cache_lookups}{hits}, 3, '... all there');
    $v = last_line();
    is("@$v{qw(fetched wait missing status)}", '0 0 0 ok', '... and in the log');
}

# --- partial answers ---

sub new_module { return ["m$n.so", SymFolder::id(0x200 + $n++)] }

my @modules = (new_module(), new_module());
my $socket = begin('/symbolicate/v5', \@modules, Debug => 1);
for my $c ($t->asked, $t->asked) {
    $t->name_asked($c) eq $modules[0][0]
        ? $t->answer($c, 200, sym_text(@{$modules[0]}))
        : $t->answer($c, 500, 'no');
}
my $r = $t->finish($socket);
is($r->{status}, 200, 'one failed: a partial answer');
is($r->{json}{debug}{downloads}{count}, 1, 'one was fetched');
my $v = last_line();
is("@$v{qw(fetched missing status)}", '1 1 partial', 'log: partial');

$r = $t->post('/strict/v5', $t->question(@modules));
is($r->{status}, 503, 'known as failed: 503');
$v = last_line();
is("@$v{qw(fetched missing status)}", '0 1 fetch_failed', 'log: fetch_failed');

@modules = (new_module(), new_module());
$socket = begin('/strict/v5', \@modules);
for my $c ($t->asked, $t->asked) {
    $t->name_asked($c) eq $modules[0][0]
        ? $t->answer($c, 200, sym_text(@{$modules[0]}))
        : $t->answer($c, 500, 'no');
}
$r = $t->finish($socket);
is($r->{status}, 503, 'one failed now: 503');
$v = last_line();
is("@$v{qw(fetched missing status)}", '1 1 fetch_failed', 'log: fetch_failed');

my @gone = (new_module());
$socket = begin('/symbolicate/v5', \@gone);
$t->answer($t->asked, 404, 'no');
$t->finish($socket);
$v = last_line();
is("@$v{qw(fetched missing status)}", '0 1 ok', 'absent is an answer: ok');

my @late = (new_module());
$r = $t->post('/symbolicate/v5', $t->question(@late),
    'X-Symbolicate-Budget' => '40ms');
is($t->function($r), 'null', 'not in time');
$v = last_line();
is("@$v{qw(fetched missing status)}", '0 1 partial', 'log: partial');
cmp_ok($v->{wait}, '>=', 39, '... waited as long as it might');
$t->answer($t->asked, 200, sym_text(@{$late[0]}));

is($t->end, '', 'the logs are clean');

done_testing();
