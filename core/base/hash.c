#include "base/hash.h"

#include <sys/auxv.h>

/* Random bytes that the kernel gives each program at its start (getauxval(3)).
 * The C library derives its own secrets from them, so a hash of them is used
 * instead. */
#define RANDOM_BYTES 16


sym_hash_key_t
sym_hash_key(void)
{
    const char *random = (const char *) (uintptr_t) getauxval(AT_RANDOM);
    sym_hash_key_t raw = { 0, 0 };

    if (random != NULL) {
        memcpy(&raw, random, RANDOM_BYTES);
    }

    return (sym_hash_key_t){ sym_hash(&raw, SYM_STR("key, first half")),
                             sym_hash(&raw, SYM_STR("key, second half")) };
}
