# Files at the source change, and nginx or the loader is notified in each
# possible way; symbols are also loaded by hand.  Later requests never get the
# old ones.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";
use SymChaos;

SymChaos->run(
    plan => {
        modules => 25,
        mix => { ok => 6, drip => 2, gone => 1, page => 1 },
        manners => { ask => 6, many => 1, slow => 1 },
        events => { publish => 120, forget => 30, load => 3 },
    },
);
