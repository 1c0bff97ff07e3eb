# Reloads, also two in a row, and with a loader that dies while old workers
# exit: no request is lost, and no old worker stays.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymChaos;

SymChaos->run(
    plan => {
        modules => 120,
        mix => { ok => 4, drip => 2, gone => 1, error => 1, stall => 1 },
        manners => { ask => 4, many => 1, slow => 1, leave => 1, mute => 1 },
        events => { forget => 40, reload => 3, reload_twice => 2,
            reload_lost => 1 },
    },
);
