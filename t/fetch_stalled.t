# A source stalls or drips, and clients request hundreds of its modules and go
# away.  Nobody else suffers: modules of another source come at once, and so do
# other modules of the same source.  A download without a waiting request is cut
# off when its slot is needed; any download ends when its time is over, or when
# too little arrives; a worker that is told to quit does not wait for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $n = 0;

# The stalling source has its own locations.
sub new {
    my ($timeout) = @_;
    my $location = 'symbolicate; symbolicate_loader unix:%%LOADER%%;';
    return SymFetch->new(serve => ['--jobs', 2],
        how => <<"HOW", sources => <<"SOURCES")
            symbolicate_source healthy uri=/healthy/;
HOW
        location /slow {
            $location
            symbolicate_source slow uri=/slow_src/;
            symbolicate_fetch_timeout $timeout;
            symbolicate_budget 5m;
        }
        location /slow_src/ {
            internal; proxy_pass http://%%FAULT%%/as/slow/;
        }
        location /healthy/ {
            internal; proxy_pass http://%%FAULT%%/as/healthy/;
        }
SOURCES
        ->conf(http => 'symbolicate_fetch_concurrency 16;')->start;
}

my $t;

sub modules {
    my ($count) = @_;
    my @modules = map { $n++; ["m$n.so", SymFetch::id($n)] } 1 .. $count;
    $t->upload(@$_, functions => 100) for @modules;
    return @modules;
}

sub ask_slow {
    my ($headers, @modules) = @_;
    my $socket = $t->connect;
    $t->send_all($socket, $t->request_text('POST', '/slow/v5',
        headers => $headers, body => $t->question(@modules)));
    return $socket;
}

# All modules are found long before the stalled downloads are given up, or the
# answer has them as pending.
sub healthy {
    my ($what) = @_;
    my @modules = modules(6);
    my $r = $t->ask_with(['X-Symbolicate-Budget' => '30s'], @modules);
    is($r->{status}, 200, "$what: answered");
    is(scalar(grep { $t->found($r, @$_) == 1 } @modules), 6,
        '... with six healthy modules');
    return;
}

# --- clients that have left ---

for my $behaviour ('blackhole', 'stall/100', 'drip/20') {
    $t = new('5m min_rate=0');
    $t->fault->script('slow', $behaviour)->script('healthy', 'ok');

    my @sockets = ask_slow([], modules(100));
    $t->fault->wait(undef, now => 9);
    my ($other) = modules(1);
    push @sockets, ask_slow([], $other);
    $t->fault->wait('/as/slow/' . SymFetch::path(@$other), count => 1);
    pass("$behaviour: another request of the same source gets a slot");

    push @sockets, map { ask_slow([], modules(100)) } 1 .. 4;
    $t->fault->wait(undef, now => 12);
    healthy('... clients wait');

    close $_ for @sockets;
    ok($t->wait_for(sub { $t->loader->stats->{waiting} <= 16 }, 'few wait'),
        '... they leave: only started downloads are left');
    healthy('... clients have gone');

    # started downloads give their slots to requests that wait
    $t->fault->script('slow', 'ok');
    my @now = modules(40);
    my $r = $t->response(ask_slow([], @now));
    is(scalar(grep { $t->found($r, @$_) == 1 } @now), 40,
        '... the source answers: 40 of its modules come');

    # downloads that still stall do not keep a worker
    $t->fault->script('slow', $behaviour);
    my ($last) = modules(1);
    @sockets = ask_slow([], $last);
    $t->fault->wait('/as/slow/' . SymFetch::path(@$last), count => 1);
    close $_ for @sockets;
    my %old = map { $_ => 1 } $t->workers;
    $t->reload;
    ok($t->wait_for(sub { !grep { $old{$_} } $t->workers }, 'it quits'),
        '... a reload: the old worker quits');
    $t->fault->wait(undef, now => 0);
    pass('... and nothing is downloaded any more');

    ok($t->loader->wait_stat(flights => 0), '... nor waited for');
    is($t->loader->stats->{lease_bytes}, 0, '... no lease is left');
    is($t->end, '', 'nothing is wrong');
}

# --- the time of a download ---

sub fails {
    my ($what, $behaviour, $reason) = @_;
    my ($module) = modules(1);
    $t->fault->script('slow', $behaviour);
    my $r = $t->response(ask_slow([], $module));
    is($r->{status}, 503, "$what: 503");
    like($t->reasons($r)->{ join '/', @$module }, $reason, '... why');
    $t->fault->wait('/as/slow/' . SymFetch::path(@$module), done => 1);
    pass('... and its connection is closed');
    return;
}

$t = new('2s min_rate=0');
fails('no answer', 'blackhole', qr/source "slow": it took too long/);
fails('stall', 'stall/100', qr/it took too long \(symbolicate_fetch_timeout\)/);
fails('drip', 'drip/20', qr/it took too long/);
is($t->end, '', 'nothing is wrong');

$t = new('5m');
fails('drip', 'drip/20', qr/it was too slow \(symbolicate_fetch_timeout\)/);
is($t->end, '', 'nothing is wrong');

done_testing();
