# Requests with very many modules that no source has: symbolicate_max_missing of
# them are requested from the source, the others are pending, and a retry
# continues with those.  However many requests come, the loader is not flooded:
# it keeps all its clients, and modules of another source arrive.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $location = 'symbolicate; symbolicate_loader unix:%%LOADER%%; '
    . 'symbolicate_source slow uri=/slow_src/;';
my $t = SymFetch->new(how => <<'HOW', sources => <<"SOURCES")->start;
            symbolicate_source fault uri=/src/;
            symbolicate_max_missing 100;
HOW
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /slow {
            $location
            symbolicate_max_missing 10000;
            # clients that are told to retry keep their downloads
            symbolicate_budget 10m;
        }
        location /slow_src/ {
            internal;
            proxy_pass http://%%FAULT%%/as/slow/;
            proxy_read_timeout 10s;
        }
SOURCES

# --- one request ---

$t->fault->script('src', 'ok');
my @modules = map { ["absent$_.so", SymFetch::id($_)] } 1 .. 250;
for my $round ([100, 150], [200, 50], [250, 0]) {
    my ($absent, $pending) = @$round;
    my $r = $t->ask(@modules);
    is($r->{status}, 200, '250 absent modules: 200');
    is(scalar(grep { defined $t->found($r, @$_) } @modules), $absent,
        "... $absent are absent");
    is(scalar(grep { !defined $t->found($r, @$_) } @modules), $pending,
        "... $pending are pending");
    is($r->{headers}{'retry-after'}, $pending ? 1 : undef,
        '... Retry-After if any are');
}
is($t->fault->stats->{total}{count}, 250, 'each was requested once');

# --- 80,000 modules, of a source that does not answer ---

$t->fault->script('slow', 'blackhole');
my @sockets;
for my $request (0 .. 7) {
    my $socket = $t->connect;
    my @many = map { ["many$_.so", SymFetch::id(1000 + $_)] }
        map { $request * 10_000 + $_ } 1 .. 10_000;
    $t->send_all($socket, $t->request_text('POST', '/slow/v5',
        body => $t->question(@many)));
    push @sockets, $socket;
}

# modules over the limits are answered as pending at once
my $r = $t->response($sockets[7]);
is($r->{status}, 200, 'the last of eight requests of 10,000: answered');
is($r->{headers}{'retry-after'}, 1, '... to retry');
cmp_ok($t->loader->stats->{waiting}, '<=', 16_384,
    'one source has at most half of the modules that a worker awaits');

my @healthy = map { ["healthy$_.so", SymFetch::id($_)] } 1 .. 6;
$t->upload(@$_) for @healthy;
$r = $t->ask(@healthy);
is(scalar(grep { $t->found($r, @$_) } @healthy), 6,
    'modules of another source come');

close $_ for @sockets;
ok($t->loader->wait_stat(flights => 0), 'the clients leave: nothing is left');
unlike($t->loader_log, qr/disconnected/, 'the loader has kept its clients');
is($t->end, '', 'nothing is wrong');

done_testing();
