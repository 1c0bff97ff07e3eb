#include "daemon/supplement.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/elf/elf.h"

/* Maximum number of kept files, because each has an open descriptor. */
#define KEPT_MAX 64

/* Maximum length of the part of a reason that comes from a worker or a file. */
#define TEXT_MAX 256

_Static_assert(SYM_COMPANION_ALT == SYM_RPC_SUPPLEMENT
                   && SYM_COMPANION_UUID_MAP == SYM_RPC_UUID_MAP
                   && SYM_COMPANION_SYMBOL_MAP == SYM_RPC_SYMBOL_MAP
                   && SYM_COMPANION_LINE_MAP == SYM_RPC_LINE_MAP,
               "kinds are the protocol's");

/* Requested (fd -1, maybe being fetched), or here. */
struct supplement_s {
    supplement_t *next;
    supplements_t *all;
    char scope[SYM_SCOPE_MAX];
    uint32_t kind; /* sym_companion_kind_t */
    uint8_t id[SYM_BUILD_ID_MAX];
    size_t scope_len, id_len;
    unsigned n_users; /* conversions */

    waiter_t *elected; /* client fetching it; NULL: none */
    uint64_t lease;    /* size of its lease */
    uint64_t want;     /* size of the next lease */
    uint64_t whole_to; /* see inflight_t */
    bool is_sent;      /* a client was told to fetch it, and the lease is in
                          use */
    int64_t deadline_ms;

    int fd;
    uint64_t offset, length;
    uint64_t used; /* time of the last use: larger is later */
    companion_places_t places;
    bool is_stale; /* another file is at one of its places */

    size_t n_ref;
    char ref[]; /* its reference for the search at sources */
};


/* --- kept files --- */

static void
forget(supplement_t *s)
{
    supplements_t *all = s->all;
    supplement_t **at = &all->first;

    while (*at != s) {
        at = &(*at)->next;
    }

    *at = s->next;
    free(s);
}


static void
close_file(supplement_t *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
        s->all->taken -= s->length;
        s->all->n_kept--;
    }
}


/* Drops the least recently used file that no conversion uses; false: there is
 * none. */
static bool
evict(supplements_t *all)
{
    supplement_t *victim = NULL, *s;

    for (s = all->first; s != NULL; s = s->next) {
        if (s->fd >= 0 && s->n_users == 0
            && (victim == NULL || s->used < victim->used)) {
            victim = s;
        }
    }

    if (victim == NULL) {
        return false;
    }

    close_file(victim);
    forget(victim);
    return true;
}


/* A file from a local folder has no lease. */
static void
trim(supplements_t *all)
{
    while ((all->taken > all->room || all->n_kept > KEPT_MAX) && evict(all)) {
    }
}


static void
end_errand(supplement_t *s)
{
    if (s->elected != NULL) {
        s->elected->errand = NULL;
        s->elected = NULL;
    }

    if (s->is_sent) {
        s->is_sent = false;
        s->all->taken -= s->lease;
        s->all->n_fetching--;
    }
}


static void
release(supplement_t *s)
{
    supplements_t *all = s->all;

    if (--s->n_users > 0) {
        return;
    }

    if (s->fd < 0 || s->is_stale) {
        end_errand(s);
        close_file(s);
        forget(s);
        return;
    }

    s->used = ++all->uses;
    trim(all);
}


void
supplement_leave(submission_t *c)
{
    c->awaited = NULL;

    while (c->n_supplements > 0) {
        release(c->supplements[--c->n_supplements]);
    }
}


/* --- requests of converters --- */

static bool
is_it(const supplement_t *s, sym_str_t scope, uint32_t kind, sym_str_t id)
{
    return !s->is_stale && s->kind == kind
           && sym_str_eq(sym_str(s->scope, s->scope_len), scope)
           && sym_str_eq(sym_str((const char *) s->id, s->id_len), id);
}


static sym_str_t
wanted_id(const sym_companion_t *want)
{
    return sym_str((const char *) want->id, want->id_len);
}


/* The last part of a path, if it is a name. */
static sym_str_t
wanted_name(const sym_companion_t *want)
{
    const char *slash = memrchr(want->name, '/', want->name_len);
    size_t at = slash == NULL ? 0 : (size_t) (slash + 1 - want->name);
    size_t len = want->name_len - at;

    return len <= SYM_NAME_MAX ? sym_str(want->name + at, len) : SYM_STR("");
}


/* Sets the module itself, as its clients describe it: the path of its line map
 * contains the module's own ids, the code id first. */
static void
describe_module(const sym_object_ref_t *module, sym_object_ref_t *ref)
{
    *ref = *module;
    if (ref->is_either) {
        ref->is_either = false;
        ref->type = sym_str_ends_nocase(ref->debug_file, SYM_STR(".pdb"))
                        ? SYM_OBJECT_PE
                        : SYM_OBJECT_MACHO;
        ref->debug_file = SYM_STR("");
    }
}


/* Returns the length of a reference; 0: no path at a source can have such an
 * id. */
static size_t
write_ref(const submission_t *c, const sym_companion_t *want,
          char out[SYM_REF_BYTES_MAX])
{
    char hex[2 * SYM_BUILD_ID_MAX];
    sym_str_t id = sym_str(hex, sym_elf_code_id(wanted_id(want), hex));
    sym_str_t name = wanted_name(want);
    sym_object_ref_t ref = { .type = SYM_OBJECT_MACHO };

    if (want->kind == SYM_COMPANION_LINE_MAP) {
        describe_module(&c->inflight->ref, &ref);
        if (ref.debug_id.form == SYM_DEBUG_ID_NONE) {
            (void) sym_debug_id_read_uuid(id, &ref.debug_id);
        }

    } else if (want->kind != SYM_COMPANION_ALT) {
        (void) sym_debug_id_read_uuid(id, &ref.debug_id);

    } else if (sym_mozilla_is_code_id(id)) {
        sym_object_ref_mozilla(
            &ref, sym_source_name_ok(name) ? name : c->inflight->key.name, id);

    } else {
        return 0;
    }

    return sym_object_ref_write(&ref, out);
}


/* Finds or creates a file.  NULL: out of memory, or no source can have it. */
static supplement_t *
create(supplements_t *all, const submission_t *c, const sym_companion_t *want)
{
    char ref[SYM_REF_BYTES_MAX];
    size_t n_ref = write_ref(c, want, ref);
    sym_str_t scope = c->conversion.upload.key.scope;
    supplement_t *s = n_ref != 0 ? calloc(1, sizeof(*s) + n_ref) : NULL;
    supplement_t **at = &all->first;

    if (s == NULL) {
        return NULL;
    }

    s->n_ref = n_ref;
    memcpy(s->ref, ref, n_ref);
    s->all = all;
    s->kind = want->kind;
    s->fd = -1;
    s->want = all->room < LEASE_FIRST_BYTES ? all->room : LEASE_FIRST_BYTES;
    s->scope_len = scope.len;
    s->id_len = want->id_len;
    memcpy(s->id, want->id, want->id_len);

    if (scope.len != 0) {
        memcpy(s->scope, scope.data, scope.len);
    }

    /* add it at the end of the queue */
    while (*at != NULL) {
        at = &(*at)->next;
    }

    *at = s;
    return s;
}


/* Makes c a user of the file; NULL: out of memory, too many, or no source can
 * have it. */
static supplement_t *
use(supplements_t *all, submission_t *c, const sym_companion_t *want)
{
    sym_str_t scope = c->conversion.upload.key.scope;
    supplement_t *s = all->first;

    if (c->n_supplements == SUPPLEMENTS_MAX) {
        return NULL;
    }

    while (s != NULL && !is_it(s, scope, want->kind, wanted_id(want))) {
        s = s->next;
    }

    if (s == NULL) {
        s = create(all, c, want);
    }

    if (s != NULL) {
        s->n_users++;
        c->supplements[c->n_supplements++] = s;
    }

    return s;
}


/* Returns the file of that kind that c uses, or NULL. */
static supplement_t *
used(const submission_t *c, uint32_t kind)
{
    for (unsigned i = 0; i < c->n_supplements; i++) {
        if (c->supplements[i]->kind == kind) {
            return c->supplements[i];
        }
    }

    return NULL;
}


/* Whether sources have paths for it.  The debug file of a stripped executable
 * has already been requested. */
static bool
is_available(const submission_t *c, const sym_companion_t *want)
{
    bool is_map = want->kind == SYM_COMPANION_UUID_MAP
                  || want->kind == SYM_COMPANION_SYMBOL_MAP
                  || want->kind == SYM_COMPANION_LINE_MAP;

    return (is_map ? want->id_len == SYM_UUID_BYTES
                   : want->kind == SYM_COMPANION_ALT && want->id_len > 0
                         && want->id_len <= SYM_BUILD_ID_MAX)
           && !c->conversion.is_void && !(c->without & 1u << want->kind);
}


static int
give(const supplement_t *s, converter_given_t *given)
{
    *given = (converter_given_t){ .offset = s->offset,
                                  .length = s->length,
                                  .is_by_id = true };
    return fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
}


int
supplement_give(supplements_t *all, submission_t *c,
                const sym_companion_t *want, converter_given_t *given)
{
    supplement_t *s;

    if (!is_available(c, want)) {
        return -1;
    }

    s = used(c, want->kind);

    /* one of each kind for a module */
    if (s != NULL
        && !is_it(s, c->conversion.upload.key.scope, want->kind,
                  wanted_id(want)))
    {
        return -1;
    }

    if (want->attempt > 0) {
        if (s != NULL) {
            close_file(s); /* it belongs to another build, or has the wrong
                              format */
        }
        c->without |= 1u << want->kind;
        return -1;
    }

    s = s != NULL ? s : use(all, c, want);
    if (s == NULL) {
        return -1;
    }

    if (s->fd >= 0) {
        return give(s, given);
    }

    c->awaited = s;
    c->conversion.is_held = true;
    conversion_rewind(&c->conversion, c->offset);
    return POOL_WITHDRAW;
}


/* --- outcomes --- */

/* Returns the first client from c on that waits for s; NULL: none. */
static submission_t *
waiting(const supplement_t *s, submission_t *c)
{
    while (c != NULL && (c->awaited != s || !c->conversion.is_held)) {
        c = submission_next(c);
    }

    return c;
}


static submission_t *
first_waiting(const supplement_t *s)
{
    return waiting(s, submission_first(s->all->conversions));
}


/* Continues all waiting conversions; if why is not NULL: fails them. */
static void
settle(supplement_t *s, const char *why)
{
    submission_t *c, *next;

    s->n_users++; /* keeps it while the conversions end */
    end_errand(s);

    for (c = first_waiting(s); c != NULL; c = next) {
        next = waiting(s, submission_next(c));
        c->conversion.is_held = false;
        c->awaited = NULL;
        c->without |= s->fd < 0 ? 1u << s->kind : 0;

        if (c->conversion.is_void || why != NULL) {
            conversion_fail(&c->conversion,
                            why != NULL ? why : "invalidated meanwhile");
        }
    }

    release(s);
}


/* Same, with a note why the file is missing. */
static void
settle_without(supplement_t *s, const char *why)
{
    submission_t *c = first_waiting(s);

    for (; c != NULL; c = waiting(s, submission_next(c))) {
        store_upload_note(&c->conversion.upload, why);
    }

    settle(s, NULL);
}


static const char *
title(const supplement_t *s)
{
    return s->kind == SYM_COMPANION_UUID_MAP     ? "map of UUIDs"
           : s->kind == SYM_COMPANION_SYMBOL_MAP ? "symbol map"
           : s->kind == SYM_COMPANION_LINE_MAP   ? "map of C# lines"
                                                 : "supplementary file";
}


/* A module without the contents of maps is still useful; it is converted again
 * only after it was removed. */
static void
fail(supplement_t *s, const char *why)
{
    char text[SYM_RPC_REASON_MAX], id[2 * SYM_BUILD_ID_MAX];
    sym_str_t bytes = sym_str((const char *) s->id, s->id_len);
    int len = (int) sym_elf_code_id(bytes, id);

    /* without the file's name, which may contain any bytes */
    snprintf(text, sizeof(text), "its %s %.*s: %s", title(s), len, id, why);

    if (s->kind == SYM_COMPANION_ALT) {
        settle(s, text);
    } else {
        settle_without(s, text);
    }
}


static void
on_file(supplement_t *s, const sym_rpc_message_t *m, int fd)
{
    supplements_t *all = s->all;
    sym_error_t err = { 0 };
    char text[TEXT_MAX];

    if (submission_check_descriptor(fd, m, &err) != SYM_OK) {
        fail(s, sym_error_text(&err, text, sizeof(text)));
        return;
    }

    s->fd = fd;
    s->offset = m->offset;
    s->length = m->length;
    all->taken += m->length;
    all->n_kept++;
    settle(s, NULL);
    trim(all);
}


static void
on_none(supplement_t *s, const sym_rpc_message_t *m)
{
    char text[TEXT_MAX];

    if (m->state == SYM_MODULE_ABSENT) {
        settle(s, NULL);
        return;
    }

    snprintf(text, sizeof(text), "%.*s", (int) m->text.len, m->text.data);
    fail(s, text);
}


static void
on_more(supplement_t *s, const sym_rpc_message_t *m)
{
    uint64_t want = lease_for(m->length, s->lease, s->all->room,
                              s->elected->client, &s->whole_to);

    if (want == 0) {
        settle_without(s, "the supplementary file is larger than the room for "
                          "such files (see the store's quota)");
        return;
    }

    if (client_wants_more(s->elected->client, m, s->lease)) {
        s->want = want;
    }

    end_errand(s);
}


static void
note_places(supplement_t *s, const sym_rpc_message_t *m)
{
    const submission_t *c = first_waiting(s);
    sym_object_ref_t ref;

    s->places.n_ids = s->places.n_paths = 0;
    (void) sym_object_ref_read(sym_str(s->ref, s->n_ref), &ref);
    places_companion_add(&s->places, &ref);
    for (; c != NULL; c = waiting(s, submission_next(c))) {
        places_companion_add(&s->places, &c->inflight->ref);
    }

    places_note_companion(s->all->places, &s->places, m);
}


bool
supplements_answer(supplements_t *all, const waiter_t *w,
                   const sym_rpc_message_t *m, int fd)
{
    supplement_t *s = all->first;

    while (s != NULL && (w == NULL || s->elected != w)) {
        s = s->next;
    }

    if (s == NULL) {
        return false;
    }

    if (m->type != SYM_RPC_MORE) {
        note_places(s, m);
    }

    if (m->type == SYM_RPC_NONE) {
        on_none(s, m);
    } else if (m->type == SYM_RPC_MORE) {
        on_more(s, m);
    } else {
        on_file(s, m, fd);
    }

    return true;
}


static bool
has_place(const supplement_t *s, uint64_t path)
{
    for (unsigned i = 0; i < s->places.n_paths; i++) {
        if (s->places.paths[i] == path) {
            return true;
        }
    }

    return false;
}


bool
supplement_was_at(const submission_t *c, uint64_t path)
{
    for (unsigned i = 0; i < c->n_supplements; i++) {
        if (has_place(c->supplements[i], path)) {
            return true;
        }
    }

    return false;
}


void
supplements_changed(supplements_t *all, uint64_t path)
{
    supplement_t *s, *next;

    for (s = all->first; s != NULL; s = next) {
        next = s->next;
        if (!has_place(s, path)) {
            continue;
        }

        s->is_stale = true;
        if (s->n_users == 0) {
            close_file(s);
            forget(s);
        }
    }
}


/* --- election --- */

/* Fails conversions without a waiting client: their file is not worth a fetch.
   May free s. */
static bool
drop_forsaken(supplement_t *s)
{
    submission_t *c, *next;
    bool is_any = false;

    for (c = first_waiting(s); c != NULL; c = next) {
        next = waiting(s, submission_next(c));

        if (c->inflight->first == NULL) {
            is_any = true;
            c->conversion.is_void = true;
            conversion_fail(&c->conversion, "no client waits for it any more");
        }
    }

    return is_any;
}


/* Returns the first suitable client among those whose module waits for s;
   *is_late: one timed out before. */
static waiter_t *
candidate(const supplement_t *s, bool *is_late)
{
    submission_t *c = first_waiting(s);

    for (; c != NULL; c = waiting(s, submission_next(c))) {
        for (waiter_t *w = c->inflight->first; w != NULL; w = w->after) {
            if (!w->is_late && w->errand == NULL) {
                return w;
            }
            *is_late |= w->is_late;
        }
    }

    return NULL;
}


/* Evicts kept files; false: the bytes do not fit. */
static bool
make_room(supplements_t *all, uint64_t bytes)
{
    while (all->taken > all->room - bytes) {
        if (!evict(all)) {
            return false;
        }
    }

    return true;
}


static void
elect(supplement_t *s, waiter_t *w, int64_t now)
{
    sym_rpc_message_t m = { .type = SYM_RPC_FETCH,
                            .ticket = w->ticket,
                            .length = s->want,
                            .places = UINT64_MAX,
                            .kind = s->kind };

    (void) sym_object_ref_read(sym_str(s->ref, s->n_ref), &m.ref);
    s->elected = w;
    s->is_sent = true;
    s->lease = s->want;
    s->deadline_ms = now + s->all->fetch_timeout_ms;
    s->all->taken += s->lease;
    s->all->n_fetching++;
    s->all->elections++;
    w->errand = &s->elected;
    client_send(w->client, &m);
}


/* False: no room yet. */
static bool
send_for(supplement_t *s, int64_t now)
{
    bool is_late = false;
    waiter_t *w = candidate(s, &is_late);

    end_errand(s); /* the previous client has disconnected */

    if (w == NULL && is_late) {
        fail(s, "it could not be fetched in time (--fetch-timeout)");
        return true;
    }

    if (w == NULL) {
        settle(s, NULL);
        return true;
    }

    if (!make_room(s->all, s->want)) {
        return false;
    }

    elect(s, w, now);
    return true;
}


/* Returns the first file for which a client must be elected. */
static supplement_t *
unsent(const supplements_t *all)
{
    supplement_t *s = all->first;

    while (s != NULL
           && (s->fd >= 0 || s->elected != NULL || first_waiting(s) == NULL))
    {
        s = s->next;
    }

    return s;
}


void
supplements_send(supplements_t *all, int64_t now)
{
    supplement_t *s;

    /* strictly in order; otherwise a large file would starve */
    while ((s = unsent(all)) != NULL && (drop_forsaken(s) || send_for(s, now)))
    {
    }
}


void
supplements_expire(supplements_t *all, int64_t now)
{
    supplement_t *s;

    for (s = all->first; s != NULL; s = s->next) {
        if (s->elected != NULL && now >= s->deadline_ms) {
            s->elected->is_late = true;
            end_errand(s);
        }
    }
}


void
supplements_free(supplements_t *all)
{
    while (all->first != NULL) {
        close_file(all->first);
        forget(all->first);
    }
}
