/*
 * conversion.h - the conversion of one file.
 *
 * The owner of a file (the daemon for a client's, a command for one on disk)
 * fills in a conversion_t and adds it.  It waits for a converter.  The
 * converter's output goes into the store, or into a temporary symcache.  The
 * owner is told of each module that has ended; after the last one the
 * conversion is freed.  This is the only code that drives the pool.  A store
 * may only be written inside its guard: code that drops conversions must run
 * inside it.
 */
#ifndef SYMLOADER_DRIVER_CONVERSION_H
#define SYMLOADER_DRIVER_CONVERSION_H

#include "common/options.h"
#include "driver/order.h"
#include "driver/pool.h"
#include "driver/store_upload.h"
#include "driver/temporary_symcache.h"
#include "metrics/loader.h"

#define CONVERSION_REASON_MAX 512

typedef struct conversion_s conversion_t;
typedef struct conversions_s conversions_t;

/* How a module ended: state READY, with what was stored, or why not. */
typedef struct {
    sym_module_state_t state; /* not ABSENT */
    bool is_better_kept;   /* ... which was nothing: the store's are better */
    bool is_later_kept;    /* ... nor: those of a later file are there */
    bool has_nothing;      /* ... as pool_has_nothing() says */
    bool has_more;         /* modules in its file: it goes on */
    bool has_no_converter; /* none could be started */
    sym_kind_t kind;       /* if READY */
    const converter_done_t *done; /* NULL unless READY */
    char reason[CONVERSION_REASON_MAX];
    sym_error_t store_error; /* what the store said, if it was its fault */
    bool is_too_large;       /* for the store's quota */
} conversion_end_t;

/* What the owner does; the first three may be NULL. */
typedef struct {
    void (*named)(conversion_t *c); /* upload.key is the module's */
    void (*note)(conversion_t *c, const char *text);
    int (*companion)(conversion_t *c, const sym_companion_t *want,
                     converter_given_t *given); /* as in pool_events_t */
    void (*ended)(conversion_t *c, const conversion_end_t *end);
    void (*release)(conversion_t *c); /* frees it; its descriptor is closed */
} conversion_events_t;

struct conversions_s {
    sym_store_t *store; /* may be NULL if all have a symcache */
    pool_t *pool;
    const conversion_events_t *events;
    void *owner;

    conversion_t *first, **last; /* in the order in which they came */
    uint64_t sequence;           /* of the last */
    order_t order;
    sym_conversions_t counted;
};

/* The first member of the owner's structure, all zero but for what it sets. */
struct conversion_s {
    /* the owner's to set */
    int fd;             /* stands at the first byte */
    uint64_t length;    /* CONVERTER_TO_END: all */
    const char *path;   /* names a module that does not name itself */
    sym_str_t source;   /* for the record */
    sym_str_t attempts; /* likewise */
    bool has_key;       /* upload.key is wanted, and nothing else */
    bool is_forced;     /* poorer symbols replace better ones, too */
    sym_str_t arch;     /* or the module for this processor is wanted */
    bool is_arch_wish;  /* ... if there is one */
    bool is_held;       /* not to be started now */
    bool is_void;       /* what comes of it is not wanted any more */
    sym_kind_t kind; /* with a key or a symcache: what is wanted; 0: symcache */
    temporary_symcache_t *symcache; /* goes there, not into the store */

    /* the driver's */
    conversion_t *next;
    conversions_t *all;
    uint64_t sequence; /* which it is, from 1 */
    bool is_started;
    store_upload_t upload;
    char reason[CONVERSION_REASON_MAX]; /* better than what an error can say */
    int64_t began_at_ns;
};

/* What the options allow to converters. */
pool_limits_t conversion_limits(const options_t *options);

/* False: out of memory.  The pool is freed by conversions_free(). */
bool conversions_create(conversions_t *all, const pool_limits_t *limits,
                        const conversion_events_t *events, void *owner);

/* It waits for its turn now; its memory and descriptor go when it has ended. */
void conversions_add(conversions_t *all, conversion_t *c);

/* Starts what the pool has room for. */
void conversions_start(conversions_t *all);

/* Its converter was withdrawn: it goes back to offset, and waits again. */
void conversion_rewind(conversion_t *c, uint64_t offset);

/* It ends as SYM_MODULE_FAILED without having been converted. */
void conversion_fail(conversion_t *c, const char *reason);

/* The same, and its owner is not told. */
void conversion_drop(conversion_t *c);

/* Text for users about a module that was converted. */
const char *conversion_describe(const conversion_end_t *how, char text[128]);

/* Kills converters; conversions stay. */
void conversions_stop(conversions_t *all);

/* Drops all, without a word. */
void conversions_free(conversions_t *all);

#endif
