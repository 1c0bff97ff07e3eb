/*
 * A writer waits a second for the lock of a store, because a killed writer's
 * child may hold it for a moment.  A caller that can use a daemon instead does
 * not wait: a daemon holds the lock for its whole life.
 */
#include <time.h>

#include "store_kit.h"

static unsigned pauses;

int
nanosleep(const struct timespec *pause, struct timespec *left)
{
    (void) pause;
    (void) left;
    pauses++;
    return 0;
}


static sym_status_t
open_again(bool is_hasty)
{
    sym_store_options_t options = { .is_hasty = is_hasty };
    sym_store_t *store = NULL;

    kit_err = (sym_error_t){ 0 };
    pauses = 0;
    (void) sym_store_open_write(kit_path, &options, &store, &kit_err);
    sym_store_close(store);
    return kit_err.status;
}


int
main(void)
{
    sym_store_t *w;

    kit_folder();
    w = kit_writer((uint64_t) 16 << 20);

    is_status(open_again(false), SYM_BUSY, &kit_err, "a second writer");
    is_u64(pauses, 100, "which waited");
    is_status(open_again(true), SYM_BUSY, &kit_err, "one that does not wait");
    is_u64(pauses, 0, "and it did not wait");

    sym_store_close(w);
    is_status(open_again(true), SYM_OK, &kit_err, "it may open a free store");
    kit_clean();
    return done_testing();
}
