# A quota that holds only a part of the requested modules: they are evicted
# while requests wait for others, and return; each answer is right nevertheless.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymChaos;

SymChaos->run(
    quota => '16m',
    plan => {
        modules => 160,
        padding => [0, 20_000, 100_000, 400_000],
        mix => { ok => 8, drip => 1, gone => 1, garbage => 1 },
        manners => { ask => 4, many => 1, slow => 1, leave => 1 },
        events => { forget => 10 },
    },
    evicts => 20,
);
