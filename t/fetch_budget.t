# A client that cannot wait is answered in time, with null for modules that have
# not arrived and a time to retry.  Fetches that it started continue, once, for
# the next request.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;
use Time::HiRes qw(time);

my $t = SymFetch->new(sources => <<'SOURCES', how => <<'CONF')->start;
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /soon { symbolicate; symbolicate_loader unix:%%LOADER%%;
            symbolicate_source fault uri=/src/; symbolicate_budget 200ms; }
SOURCES
            symbolicate_source fault uri=/src/;
            symbolicate_budget 20s;
CONF

my @slow = ('slow.so', SymFetch::id(1));
my @there = ('there.so', SymFetch::id(2));
$t->upload(@slow, prefix => 'slow_')->upload(@there, prefix => 'there_');
$t->fault->script('src', 'ok');
is($t->found($t->ask([@there]), @there), 1, 'one module is there');

sub late {
    my ($r, $what) = @_;
    is($r->{status}, 200, "$what: 200");
    is($t->found($r, @slow), undef, '... null');
    is($t->found($r, @there), 1, '... the present module is answered');
    is($t->function($r, 1), 'there_0', '... its function');
    like($r->{headers}{'retry-after'}, qr/^[1-9]\d*$/, '... Retry-After');
    return;
}

$t->fault->script('src', 'gate/g/ok');
my $began = time;
late($t->ask_with(['X-Symbolicate-Budget', '300ms'], [@slow], [@there]),
    'a budget of 300 ms');
my $took = time - $began;
ok($took >= 0.29 && $took < 10, sprintf 'after 300 ms, not 20 s: %.2f', $took);

$began = time;
late($t->post('/soon/v5', $t->question([@slow], [@there])),
    'a budget of the location');
late($t->ask_with(['X-Symbolicate-Budget', '100ms'], [@slow], [@there]),
    'asked again');
late($t->post('/soon/v5', $t->question([@slow], [@there]),
    'X-Symbolicate-Budget', '1h'), 'the header cannot make it longer');
ok(time - $began < 15, 'none of them waited for long');
is($t->gets(@slow), 1, 'one GET for all of them');
is($t->found($t->ask_with(['X-Symbolicate-Budget', '0ms'], [@slow]), @slow),
    undef, 'no time at all: null');

for my $bad ('soon', '', '-1s', '1.5s', '99999999999999999999s') {
    my $r = $t->ask_with(['X-Symbolicate-Budget', $bad], [@slow], [@there]);
    is($r->{status}, 400, "a budget of \"$bad\": 400");
    like($r->{json}{title}, qr/X-Symbolicate-Budget/, '... which says so');
    is($t->ask_with(['X-Symbolicate-Budget', $bad], [@there])->{status}, 400,
       '... although nothing is missing');
}

my $socket = $t->begin([@slow]);
$t->fault->open_gate('g');
my $r = $t->response($socket);
is($t->function($r, 0), 'slow_0', 'opened: the waiting request is answered');
is($t->gets(@slow), 1, 'by the first GET');
is($r->{headers}{'retry-after'}, undef, 'no Retry-After now');

# No request waits when it arrives: stored nevertheless.
my @next = ('next.so', SymFetch::id(3));
$t->upload(@next)->fault->close_gate('g');
is($t->found($t->ask_with(['X-Symbolicate-Budget', '50ms'], [@next]), @next),
    undef, 'another: null');
$t->fault->open_gate('g');
$t->wait_for(sub { $t->loader_log =~ /next\.so.*: ready/ },
    'it is stored without a waiting request');
is($t->found($t->ask([@next]), @next), 1, 'available to the next request');
is($t->gets(@next), 1, 'by one GET');

is($t->end, '', 'nothing is wrong');

# --- sources that were not reached ---

$t = SymFetch->new(sources => <<'SOURCES', how => <<'CONF')->start;
        location /first/ { internal; proxy_pass http://%%FAULT%%/blackhole/; }
        location /src/ { internal; proxy_pass http://%%FAULT%%/as/src/; }
        location /last/ { internal; proxy_pass http://%%FAULT%%/as/last/; }
SOURCES
            symbolicate_source first uri=/first/;
            symbolicate_source fault uri=/src/;
            symbolicate_source last uri=/last/;
            symbolicate_budget 1s;
CONF
$t->upload(@slow, prefix => 'second_')->fault->script('src', 'ok');
$t->fault->script('last', 'status/404');
is($t->found($t->ask([@slow]), @slow), undef,
    'the first source does not answer');
$t->fault->wait('/as/last/' . SymFetch::path(@slow), done => 1);
my $found;
$t->wait_for(sub {
    $found = $t->ask([@slow]);
    return $t->found($found, @slow);
}, 'the next request');
is($t->function($found, 0), 'second_0', 'a later one was tried, and had it');
is($t->gets(@slow), 1, '... once');
is($t->fault->count('/as/last/' . SymFetch::path(@slow)), 1,
    '... as the last one');
is($t->end, '', 'nothing is wrong');

done_testing();
