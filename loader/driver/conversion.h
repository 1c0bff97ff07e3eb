/*
 * conversion.h - the conversion of one file.
 *
 * The owner of a file (the daemon for a client's, a command for one on disk)
 * fills in a conversion_t and adds it.  It waits for a converter, whose output
 * goes to the store, or to a temporary symcache.  ended() is called for each
 * module of the file, release() after the last one.  Only this code drives the
 * pool.  A store may only be written inside its guard, so code that drops
 * conversions must run inside it.
 */
#ifndef SYMLOADER_DRIVER_CONVERSION_H
#define SYMLOADER_DRIVER_CONVERSION_H

#include "common/options.h"
#include "driver/commit_group.h"
#include "driver/order.h"
#include "driver/pool.h"
#include "driver/store_upload.h"
#include "driver/temporary_symcache.h"
#include "store/path.h"
#include "metrics/loader.h"

#define CONVERSION_REASON_MAX 512

typedef struct conversion_s conversion_t;
typedef struct conversions_s conversions_t;

/* The result of one module: READY, or the reason of a failure. */
typedef struct {
    sym_module_state_t state; /* not ABSENT */
    bool is_better_kept;      /* READY, but the store has better symbols */
    bool is_later_kept;       /* READY, but the store has the symbols of a later
                              file */
    bool has_nothing;         /* see pool_has_nothing() */
    bool has_more;            /* other modules of the file follow */
    bool has_no_converter;    /* no converter could be started */
    /* if READY, or else NULL */
    sym_kind_t kind;
    const sym_module_key_t *key;
    const converter_done_t *done;
    char reason[CONVERSION_REASON_MAX];
    sym_error_t store_error; /* set if the store failed */
    bool is_too_large;       /* for the store's quota */
} conversion_end_t;

/* Callbacks of the owner; all but the last two may be NULL. */
typedef struct {
    void (*named)(conversion_t *c); /* upload.key is set to the module's */
    void (*note)(conversion_t *c, const char *text);
    int (*companion)(conversion_t *c, const sym_companion_t *want,
                     converter_given_t *given); /* as in pool_events_t */
    /* of an upload: before an artifact is stored, sets the place of its file;
     * the artifact is dropped if that fails, or sets is_void */
    sym_status_t (*place)(conversion_t *c, const converter_done_t *done,
                          sym_conversion_format_t format, sym_error_t *err);
    /* of an upload that is taken apart; ended() follows, with READY after the
     * last one */
    sym_status_t (*member)(conversion_t *c, const converter_member_t *member,
                           sym_error_t *err);
    sym_status_t (*bytes)(conversion_t *c, const uint8_t *data, size_t len,
                          sym_error_t *err);
    void (*ended)(conversion_t *c, const conversion_end_t *end);
    void (*release)(conversion_t *c); /* frees it; its descriptor is closed */
} conversion_events_t;

struct conversions_s {
    sym_store_t *store; /* may be NULL if all have a symcache */
    pool_t *pool;
    const conversion_events_t *events;
    void *owner;

    conversion_t *first, **last; /* in the order of arrival */
    uint64_t sequence;           /* sequence of the last one */
    order_t order;
    commit_group_t group;
    int commit_ms; /* how long a module may wait for others to share its commit;
                      set by the owner, 0: not at all */
    sym_conversions_t counted;
    uint64_t n_mangled; /* Swift names that were not demangled */
};

/* The first member of the owner's structure. */
struct conversion_s {
    /* set by the owner; zero means none, or no */
    int fd;               /* positioned at the first byte */
    uint64_t length;      /* CONVERTER_TO_END: up to the end of the file */
    const char *path;     /* the name of a module that does not name itself */
    sym_str_t source;     /* for the record of a file loaded by hand */
    sym_str_t reference;  /* URL of a script's map that came with it; or "" */
    sym_path_key_t place; /* of a file of a source; no path: loaded by hand */
    uint16_t number;      /* of the place in the plan of its search */
    sym_path_record_t *file; /* its record, except what the driver sets: ids,
                                kinds, features, outcome; or NULL */
    bool has_key;            /* only the module upload.key is wanted */
    bool is_forced;          /* replace even better symbols */
    bool is_upload;          /* place() is called; a share of the converters is
                                kept for others */
    unsigned upload_flags;   /* it is taken apart: pool_input_t */
    sym_str_t scope;         /* of its modules, if it has no key */
    sym_str_t arch;          /* only the module for this processor is wanted */
    bool is_arch_wish; /* ... or the first, if the file has no such module */
    bool is_held;      /* must not be started now */
    bool is_void;      /* its result is no longer needed */
    unsigned kinds;    /* wanted artifacts: sym_format_file_t.kinds */
    bool takes_empty;  /* sym_format_services_t.takes_empty */
    sym_kind_t kind;   /* with a symcache: the wanted kind; 0: symcache */
    temporary_symcache_t *symcache; /* the output, instead of the store */
    unsigned make;                  /* 1 + a sym_make_t: the output is a file */
    char make_name[SYM_MAKE_TEXT_MAX + 1]; /* as in pool_input_t */

    /* set by the driver */
    conversion_t *next;
    conversions_t *all;
    uint64_t sequence; /* from 1 */
    bool is_started;
    bool is_skipped; /* its kind is not the wanted one */
    unsigned n_ids;
    sym_store_id_t ids[SYM_PATH_IDS_MAX]; /* of all objects in the file */
    store_upload_t upload;
    char reason[CONVERSION_REASON_MAX]; /* longer than an error can hold */
    int64_t began_at_ns;
};

/* Kinds of artifacts that are made from the file besides the wanted one, if it has
 * them: 1 << kind. */
uint32_t conversion_tries(const conversion_t *c);

/* Reason for refusing a file that has only another kind of artifact. */
void conversion_lacks_kind(sym_kind_t wanted, sym_kind_t other,
                           char reason[CONVERSION_REASON_MAX]);

/* The limits of converters, from the options. */
pool_limits_t conversion_limits(const options_t *options);

/* False: out of memory.  The pool is freed by conversions_free(). */
bool conversions_create(conversions_t *all, const pool_limits_t *limits,
                        const conversion_events_t *events, void *owner);

/* Queues it.  The driver closes its descriptor and calls release() at the end. */
void conversions_add(conversions_t *all, conversion_t *c);

/* Starts as many conversions as the pool has room for. */
void conversions_start(conversions_t *all);

/*
 * Commits the waiting modules if the first has waited long enough, if one of
 * them is large, or if no converter works any more.  Returns the time until
 * they must be committed, in ms; -1: none wait.  With a commit_ms the owner
 * calls it after each wait, once the next files have begun.
 */
int conversions_commit_due(conversions_t *all);

/* Commits all waiting modules. */
void conversions_commit(conversions_t *all);

/* Queues it again from offset, after its converter was withdrawn. */
void conversion_rewind(conversion_t *c, uint64_t offset);

/* Ends it as SYM_MODULE_FAILED before its conversion. */
void conversion_fail(conversion_t *c, const char *reason);

/* Ends it without calling ended(). */
void conversion_drop(conversion_t *c);

/* Describes a converted module to users. */
const char *conversion_describe(const conversion_end_t *how, char text[128]);

/* Kills converters; conversions stay. */
void conversions_stop(conversions_t *all);

/* Frees everything without calling ended(). */
void conversions_free(conversions_t *all);

#endif
