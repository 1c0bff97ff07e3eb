# With error_log ... debug, nginx logs the descriptor of the connection of every
# timer.  A timer without a connection killed the worker.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";
use SymFetch;
use Test::More;

my @module = ('app.so', SymFetch::id(1));
my $t = SymFetch->new(how => 'symbolicate_slice 1;')
    ->conf(server => 'error_log %%DIR%%/logs/error.log debug;',
        main => "error_log %%DIR%%/logs/error.log debug;\n")->start;
$t->upload(@module);

# the store, the daemon, the source, and a request in many turns
my $r = $t->ask(([@module]) x 50);
is($r->{status}, 200, 'answered');
is($t->function($r, 49), 'f0', 'with symbols');
$t->loader_stop;
is($t->ask(['other.so', SymFetch::id(2)])->{status}, 503, 'without the daemon');
like($t->error_log, qr/\[debug\].*event timer add/, 'the log has timers');

is($t->end, '', 'nothing is wrong');

done_testing();
