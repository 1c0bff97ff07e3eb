# The downloads of a client that is told to retry are abandoned.  They continue,
# but give up their slots at once when a request waits: the least advanced ones
# first.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my $GRACE_S = 10;    # how soon a client has to retry
my $n = 0;

sub modules {
    my ($t, $count, %o) = @_;
    my @modules = map { $n++; ["m$n.so", SymFetch::id($n)] } 1 .. $count;
    $t->upload(@$_, %o) for @modules;
    return @modules;
}

sub is_left {
    my ($t, @modules) = @_;
    my $r = $t->ask_with(['X-Symbolicate-Budget' => '500ms'], @modules);
    return $r->{status} == 200 && $r->{headers}{'retry-after'}
        && !grep { defined $t->found($r, @$_) } @modules;
}

sub healthy {
    my ($t, $what) = @_;
    my @modules = modules($t, 6);
    my $r = $t->ask_with(
        ['X-Symbolicate-Budget' => ($GRACE_S - 2) . 's'], @modules);
    is(scalar(grep { ($t->found($r, @$_) // 0) == 1 } @modules), 6,
        "$what: six modules of the same source come at once");
    return;
}

# Where slots are few, and where the loader has room for few downloads.
for my $how (['few slots', 1, 'symbolicate_fetch_concurrency 4;', '1g'],
    ['many workers', 3, '', '64m'])
{
    my ($what, $workers, $http, $quota) = @$how;
    my $t = SymFetch->new(workers => $workers)->conf(http => $http);
    $t->symloader('init', '--quota', $quota);
    $t->start;
    $t->fault->script('src', 'stall/100');
    my @stalled = modules($t, 500);
    my @sockets = map {
        my $socket = $t->connect;
        $t->send_all($socket, $t->request_text('POST', '/symbolicate/v5',
            headers => ['X-Symbolicate-Budget' => '500ms'],
            body => $t->question(@stalled[50 * $_ .. 50 * $_ + 49])));
        $socket;
    } 0 .. 9;
    is(scalar(grep { $t->response($_)->{headers}{'retry-after'} } @sockets),
        10, "$what: clients of a stalled source are told to retry");
    $t->fault->script('src', 'ok');
    healthy($t, $what);
    is($t->end, '', 'nothing is wrong');
}

# --- selection ---

my $t = SymFetch->new(workers => 1)
    ->conf(http => 'symbolicate_fetch_concurrency 2;')->start;
my ($far, $near, $new) = modules($t, 3, functions => 5000);
$t->fault->script('src', 'stall/60000');
ok(is_left($t, $far), 'an abandoned download that has much');
$t->fault->script('src', 'stall/100');
ok(is_left($t, $near), '... and a later one that has little');
$t->fault->script('src', 'ok');
my $r = $t->ask($new);
is($t->found($r, @$new), 1, 'a third module comes');
$t->fault->wait('/as/src/' . SymFetch::path(@$near), now => 0);
is($t->fault->stats->{total}{now}, 1, '... in the slot of one of them');
is($t->fault->count('/as/src/' . SymFetch::path(@$far)), 1,
    '... and the one that has much continues');
is($t->end, '', 'nothing is wrong');

done_testing();
