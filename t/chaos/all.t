# Everything at once: a hostile source, clients of all kinds, a small quota,
# changing files, reloads, deaths.

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
        mix => { SymChaos::hostile(), ok => 20 },
        manners => { ask => 6, pack => 1, hurry => 1, many => 1, slow => 1,
            leave => 1, half => 1, mute => 1 },
        events => { publish => 30, forget => 30, load => 2, kill_worker => 2,
            kill_loader => 1, stop_loader => 1, reload => 1,
            reload_twice => 1, reload_lost => 1 },
    },
    evicts => 1,
);
