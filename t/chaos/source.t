# A source that breaks off, denies, fails, stalls and sends wrong files: each
# answer is right, or says truly what could not be fetched, and why.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymChaos;

SymChaos->run(
    plan => {
        modules => 150,
        mix => { SymChaos::hostile(), ok => 5 },
        manners => { ask => 6, pack => 1, hurry => 2, many => 1 },
        events => { forget => 40 },
    },
    source => [qw(ok gone garbage error stall)],
    at_least => { False => 10, 'status 200' => 20, 'status 503' => 2,
        failed => 2 },
);
