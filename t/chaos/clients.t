# Clients that leave in the middle, and clients that read slowly or not at all,
# next to some that wait: these get their answers, and the others leave nothing
# behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymChaos;

SymChaos->run(
    plan => {
        mix => { ok => 4, chunked => 1, drip => 2 },
        frames => 400,
        manners => { ask => 3, pack => 1, many => 1, slow => 1, leave => 2,
            half => 2, mute => 2 },
        events => { forget => 20 },
    },
    source => ['drip'],
);
