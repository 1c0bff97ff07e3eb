# Endless requests about one module in different variants, or about one source
# each, cost the loader no more per request: the CPU time is compared with that
# of as many requests about different modules, which are independent from the
# start.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX ();
use Test::More;

use SymLoader;
use SymServe;

use constant QUESTIONS => 20_000;

# Seconds of a new loader's CPU time until all requests are sent, and until
# their client has left.
sub cpu_of {
    my ($differing) = @_;
    my $t = SymServe->new->serve;
    my $c = $t->client;

    my $sent = $t->_ask("flood $c->{name} ENSURE " . QUESTIONS . " $differing")->{sent};
    is($sent, QUESTIONS, "requested, each with another $differing");
    ok($t->wait_stat(flights => QUESTIONS), '... and all wait');
    $t->_ask("close $c->{name}");
    ok($t->wait_stat(flights => 0), '... until their client leaves');

    my $stat = SymLoader::read_file('/proc/' . $t->pid . '/stat');
    my ($user, $system) = (split ' ', $stat =~ s/.*\) //sr)[ 11, 12 ];
    is($t->stop->{code}, 0, '... and the loader exits');
    return ($user + $system) / POSIX::sysconf(&POSIX::_SC_CLK_TCK);
}

my $modules = cpu_of('key');

for my $differing (qw(checksum scope)) {
    my $ratio = cpu_of($differing) / $modules;
    cmp_ok($ratio, '<', 10, sprintf '... for %.1f of the CPU time of different modules', $ratio);
}

done_testing();
