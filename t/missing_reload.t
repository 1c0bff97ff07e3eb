# A worker that is shutting down finishes its requests when its connection to
# the loader is already closed.  Modules that they miss are counted, too, and
# the worker waits only briefly for a loader that is away.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFolder;
use Test::More;

my $t = SymFolder->new(workers => 1, how => <<'CONF')->start;
            symbolicate_missing on;
            symbolicate_negative_ttl absent=1h;
CONF
my @gone = ('gone.so', SymFolder::id(0xe1));

sub requests {
    my $r = $t->request('GET', '/admin/missing?show=all');
    return ($r->{json}{modules} // [])->[0]{requests} // 0;
}

# Starts a request, reloads nginx, and finishes the request when its worker is
# shutting down.
sub ask_over_a_reload {
    my $text = $t->request_text('POST', '/symbolicate/v5',
        body => $t->question(\@gone));
    my ($old) = $t->workers;
    my $socket = $t->connect;
    $t->send_all($socket, substr $text, 0, 20);
    $t->request('GET', '/__lbheartbeat__');    # it has the connection
    $t->reload;
    $t->send_all($socket, substr $text, 20);
    is($t->finish($socket)->{status}, 200, 'the request is answered');
    return $old;
}

sub wait_end_of {
    my ($pid) = @_;
    ok($t->wait_for(sub { !grep { $_ == $pid } $t->workers },
        'the worker ends'), 'the worker ends');
    return;
}

$t->ask(\@gone);
$t->wait_for(sub { requests() == 1 }, 'the list is written');

my $old = ask_over_a_reload();
ok($t->wait_for(sub { requests() == 2 }, 'its request is counted'),
    'its request is counted');
wait_end_of($old);

$t->loader_stop;
wait_end_of(ask_over_a_reload());

is($t->end, '', 'the logs are clean');
done_testing();
