# Workers and the loader are killed, and the loader is stopped and started: what a
# client gets is right, or says that the loader was away, and all goes on.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymChaos;

SymChaos->run(
    plan => {
        modules => 120,
        mix => { ok => 4, drip => 2, gone => 1, error => 1, short => 1 },
        manners => { ask => 4, many => 1, slow => 1, leave => 1 },
        events => { forget => 40, kill_worker => 5, kill_loader => 2,
            stop_loader => 1 },
    },
);
