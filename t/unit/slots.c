/* base/slots.h: the first free slot is taken; a thread that finds none free
 * gets the next one that is returned, whichever it is. */
#include <pthread.h>

#include "base/slots.h"
#include "tap.h"

static void *
take(void *slots)
{
    return (void *) sym_slots_take(slots);
}


int
main(void)
{
    sym_slots_t slots = { 0 };
    pthread_t thread;
    void *taken;

    for (size_t i = 0; i < SYM_SLOTS; i++) {
        is_u64(sym_slots_take(&slots), i, "the first free slot");
    }

    sym_slots_give_back(&slots, 3);
    sym_slots_give_back(&slots, 9);
    is_u64(sym_slots_take(&slots), 3, "... also a returned one");
    is_u64(sym_slots_take(&slots), 9, "... then the next");

    for (size_t i = 0; i < SYM_SLOTS; i++) {
        if (pthread_create(&thread, NULL, take, &slots) != 0) {
            return 1;
        }
        sym_slots_give_back(&slots, i);
        (void) pthread_join(thread, &taken);
        is_u64((uint64_t) (uintptr_t) taken, i, "another thread waits for it");
    }

    return done_testing();
}
