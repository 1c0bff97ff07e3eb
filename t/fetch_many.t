# Requests that name very many modules which no source has: each asks for so many
# of them as symbolicate_max_missing says, the others are pending, and asking
# again goes on with them.  However many requests come, the loader is not
# flooded: it keeps all its clients, and modules of another source come.

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
        }
        location /slow_src/ { internal; proxy_pass http://%%FAULT%%/as/slow/; }
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
is($t->fault->stats->{total}{count}, 250, 'each was asked for once');

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

# what was over the limits is answered at once, with nothing
my $r = $t->response($sockets[7]);
is($r->{status}, 200, 'the last of eight requests of 10,000: answered');
is($r->{headers}{'retry-after'}, 1, '... to ask again');
cmp_ok($t->loader->stats->{waiting}, '<=', 16_384,
    'one source waits for no more than half of what a worker may');

my @healthy = map { ["healthy$_.so", SymFetch::id($_)] } 1 .. 6;
$t->upload(@$_) for @healthy;
$r = $t->ask(@healthy);
is(scalar(grep { $t->found($r, @$_) } @healthy), 6,
    'modules of another source come');

close $_ for @sockets;
ok($t->loader->wait_stat(flights => 0), 'the clients go: nothing is left');
unlike($t->loader_log, qr/disconnected/, 'the loader has kept its clients');
is($t->end, '', 'nothing is wrong');

done_testing();
