# Workers and the loader are killed, and the loader is stopped and started: a
# client gets a right answer, or one that says that the loader was away, and the
# service continues.

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
