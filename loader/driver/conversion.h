/*
 * conversion.h - the conversion of one file.
 *
 * The owner of a file (the daemon for a client's file, a command for one on
 * disk) fills in a conversion_t and adds it.  The conversion waits for a
 * converter, whose output is written to the store, or to a temporary symcache.
 * ended() is called for each module of the file, release() after the last one.
 * Only this code drives the pool.  A store may only be written inside its
 * guard, so code that drops conversions must run inside it.
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
    /* NULL unless READY */
    sym_kind_t kind;
    const sym_module_key_t *key;
    const converter_done_t *done;
    char reason[CONVERSION_REASON_MAX];
    sym_error_t store_error; /* set if the store failed */
    bool is_too_large;       /* it exceeds the store's quota */
} conversion_end_t;

/* Callbacks of the owner; all but the last two may be NULL. */
typedef struct {
    void (*named)(conversion_t *c); /* called when upload.key has been set to
                                       the module's */
    void (*note)(conversion_t *c, const char *text);
    int (*companion)(conversion_t *c, const sym_companion_t *want,
                     converter_given_t *given); /* see pool_events_t */
    /* for uploads: called before an artifact is stored; sets the place of its
     * file.  If it fails, or sets is_void, the artifact is dropped */
    sym_status_t (*place)(conversion_t *c, const converter_done_t *done,
                          sym_conversion_format_t format, sym_error_t *err);
    /* for uploads whose files are sent separately; ended() follows, with READY
     * after the last one */
    sym_status_t (*member)(conversion_t *c, const converter_member_t *member,
                           sym_error_t *err);
    sym_status_t (*bytes)(conversion_t *c, const uint8_t *data, size_t len,
                          sym_error_t *err);
    void (*ended)(conversion_t *c, const conversion_end_t *end);
    void (*release)(conversion_t *c); /* frees it; its descriptor is closed */
} conversion_events_t;

struct conversions_s {
    sym_store_t *store; /* may be NULL if all conversions have a symcache */
    pool_t *pool;
    const conversion_events_t *events;
    void *owner;

    conversion_t *first, **last; /* list in the order of arrival */
    uint64_t sequence;           /* sequence of the last conversion */
    order_t order;
    commit_group_t group;
    int commit_ms; /* maximum time that a module waits for others to share its
                      commit; set by the owner; 0: it does not wait */
    sym_conversions_t counted;
    uint64_t n_mangled; /* number of Swift names that were not demangled */
};

/* A conversion; the first member of the owner's structure. */
struct conversion_s {
    /* set by the owner; zero means none, or false */
    int fd;               /* positioned at the first byte */
    uint64_t length;      /* CONVERTER_TO_END: up to the end of the file */
    const char *path;     /* used as name if the module does not contain one */
    sym_str_t source;     /* for the record of a file loaded by hand */
    sym_str_t reference;  /* URL of a script's map from an HTTP header; or "" */
    sym_path_key_t place; /* place of a source's file; without a path: loaded by
                             hand */
    uint16_t number;      /* number of the place in the plan of its search */
    sym_path_record_t *file; /* record of the file, except the fields that the
                                driver sets (ids, kinds, features, outcome); or
                                NULL */
    bool has_key;            /* only the module upload.key is wanted */
    bool is_forced;          /* replace even better symbols */
    bool is_shared;          /* other nodes have made the artifacts, of the
                                source's file */
    bool is_upload;          /* place() is called, and some converters are kept
                                for others */
    unsigned upload_flags;   /* flags of an upload that consists of files:
                                pool_input_t */
    sym_str_t scope;         /* scope of its modules, if it has no key */
    sym_str_t arch;          /* only the module for this processor is wanted */
    bool is_arch_wish; /* ... or the first, if the file has no such module */
    bool is_held;      /* must not be started now */
    bool is_void;      /* its result is no longer needed */
    unsigned kinds;    /* kinds of wanted artifacts: sym_format_file_t.kinds */
    bool takes_empty;  /* sym_format_services_t.takes_empty */
    sym_kind_t kind;   /* with a symcache: the wanted kind; 0: symcache */
    temporary_symcache_t *symcache; /* where to write the output, instead of the
                                       store */
    unsigned make;                  /* 1 + a sym_make_t: the output is a file */
    char make_name[SYM_MAKE_TEXT_MAX + 1]; /* see pool_input_t */

    /* set by the driver */
    conversion_t *next;
    conversions_t *all;
    uint64_t sequence; /* from 1 */
    bool is_started;
    bool is_skipped; /* the current artifact is not of the wanted kind */
    uint32_t lacks;  /* kinds that a shared file does not give, 1 << kind */
    unsigned n_ids;
    sym_store_id_t ids[SYM_PATH_IDS_MAX]; /* ids of all objects in the file */
    store_upload_t upload;
    char reason[CONVERSION_REASON_MAX]; /* may be longer than a text in an
                                           error */
    int64_t began_at_ns;
};

/* Returns the kinds of artifacts that are made from the file in addition to the
 * wanted one, if possible: 1 << kind. */
uint32_t conversion_tries(const conversion_t *c);

/* Makes the reason for refusing a file that contains only another kind of
 * artifact. */
void conversion_lacks_kind(sym_kind_t wanted, sym_kind_t other,
                           char reason[CONVERSION_REASON_MAX]);

/* Returns the limits of converters from the options. */
pool_limits_t conversion_limits(const options_t *options);

/* False: out of memory.  The pool is freed by conversions_free(). */
bool conversions_create(conversions_t *all, const pool_limits_t *limits,
                        const conversion_events_t *events, void *owner);

/* Queues a conversion.  The driver closes its descriptor, and calls release()
 * at the end. */
void conversions_add(conversions_t *all, conversion_t *c);

/* Starts as many conversions as the pool has room for. */
void conversions_start(conversions_t *all);

/*
 * Commits the waiting modules if the first one has waited long enough, if one
 * of them is large, or if no converter works any more.  Returns the time until
 * they must be committed, in ms; -1: none are waiting.  If commit_ms is set,
 * the owner must call this after each wait, once the next files have begun.
 */
int conversions_commit_due(conversions_t *all);

/* Commits all waiting modules. */
void conversions_commit(conversions_t *all);

/* Queues a conversion again, with the file's bytes from offset on, after its
 * converter was withdrawn. */
void conversion_rewind(conversion_t *c, uint64_t offset);

/* Ends a conversion as SYM_MODULE_FAILED before it starts. */
void conversion_fail(conversion_t *c, const char *reason);

/* Ends a conversion without calling ended(). */
void conversion_drop(conversion_t *c);

/* Describes a converted module to users. */
const char *conversion_describe(const conversion_end_t *how, char text[128]);

/* Kills the converters; conversions stay. */
void conversions_stop(conversions_t *all);

/* Frees everything without calling ended(). */
void conversions_free(conversions_t *all);

#endif
