# Questions without end cost the loader no more, each, because they are about one
# module in different ways, or about one source each: CPU time beside that of as
# many questions about different modules, which are apart from the start.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use POSIX ();
use Test::More;

use SymLoader;
use SymServe;

use constant QUESTIONS => 20_000;

# Seconds of a new loader's CPU time until all are asked, and until their client
# has left.
sub cpu_of {
    my ($differing) = @_;
    my $t = SymServe->new->serve;
    my $c = $t->client;

    my $sent = $t->_ask("flood $c->{name} ENSURE " . QUESTIONS . " $differing")->{sent};
    is($sent, QUESTIONS, "asked, each of another $differing");
    ok($t->wait_stat(flights => QUESTIONS), '... and all wait');
    $t->_ask("close $c->{name}");
    ok($t->wait_stat(flights => 0), '... until their client leaves');

    my $stat = SymLoader::read_file('/proc/' . $t->pid . '/stat');
    my ($user, $system) = (split ' ', $stat =~ s/.*\) //sr)[ 11, 12 ];
    is($t->stop->{code}, 0, '... and the loader ends');
    return ($user + $system) / POSIX::sysconf(&POSIX::_SC_CLK_TCK);
}

my $modules = cpu_of('key');

for my $differing (qw(checksum scope)) {
    my $ratio = cpu_of($differing) / $modules;
    cmp_ok($ratio, '<', 10, sprintf '... for %.1f of the CPU time of different modules', $ratio);
}

done_testing();
