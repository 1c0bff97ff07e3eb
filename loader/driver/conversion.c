#include "driver/conversion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/now.h"
#include "common/say.h"
#include "driver/conversion_check.h"
#include "driver/conversion_next.h"
#include "formats/format.h"

void
conversions_add(conversions_t *all, conversion_t *c)
{
    c->all = all;
    c->sequence = ++all->sequence;
    c->next = NULL;
    *all->last = c;
    all->last = &c->next;
}


static void
unlink_conversion(conversion_t *c)
{
    conversions_t *all = c->all;
    conversion_t **at = &all->first;

    while (*at != c) {
        at = &(*at)->next;
    }

    *at = c->next;

    if (all->last == &c->next) {
        all->last = at;
    }
}


/* Returns the sequence before the oldest one that is still in progress. */
static uint64_t
settled_sequence(const conversions_t *all)
{
    return all->first != NULL ? all->first->sequence - 1 : all->sequence;
}


static void
finish(conversion_t *c, const conversion_end_t *how)
{
    conversions_t *all = c->all;

    unlink_conversion(c);
    order_forget(&all->order, settled_sequence(all));

    if (how != NULL) {
        all->events->ended(c, how);
    }

    store_upload_drop(&c->upload);
    close(c->fd);
    all->events->release(c);
}


void
conversion_drop(conversion_t *c)
{
    finish(c, NULL);
}


void
conversion_fail(conversion_t *c, const char *reason)
{
    conversion_end_t how = { .state = SYM_MODULE_FAILED };

    snprintf(how.reason, sizeof(how.reason), "%s", reason);
    finish(c, &how);
}


void
conversion_rewind(conversion_t *c, uint64_t offset)
{
    (void) lseek(c->fd, (off_t) offset, SEEK_SET);
    store_upload_drop(&c->upload);
    c->upload.notes_len = 0;
    c->upload.notes[0] = '\0';
    c->is_started = false;
}


static void
begin_next(conversion_t *c)
{
    store_upload_drop(&c->upload);
    if (!c->has_key) {
        c->upload.key = (sym_module_key_t){ 0 };
    }
    c->began_at_ns = now_ns();
}


/* Moves to the next module of the file; after the last one the conversion
   ends. */
static void
end_module(conversion_t *c, const conversion_end_t *how)
{
    conversions_commit(c->all); /* modules end in their order */

    if (!how->has_more) {
        finish(c, how);
        return;
    }

    c->all->events->ended(c, how);
    begin_next(c);
}


static void
count(conversion_t *c, const conversion_end_t *how, const pool_end_t *at)
{
    sym_conversions_count(&c->all->counted, at->format, how->state,
                          (uint64_t) (now_ns() - c->began_at_ns));
}


/* Whether it was refused because of the store's quota: a retry would have the
 * same result. */
static bool
is_too_large(const conversion_t *c, const sym_error_t *err)
{
    return c->upload.is_store_error && err->status == SYM_LIMIT;
}


/* Whether the failure was caused by the file, the store or the system. */
static sym_module_state_t
blame(const conversion_t *c, const sym_error_t *err)
{
    if (is_too_large(c, err)) {
        return SYM_MODULE_MALFORMED;
    }

    return c->upload.is_store_error || err->status == SYM_IO
               ? SYM_MODULE_FAILED
               : SYM_MODULE_MALFORMED;
}


static void
fail_module(conversion_t *c, const sym_error_t *err, const pool_end_t *at,
            bool has_no_converter)
{
    conversion_end_t how = { .state = blame(c, err),
                             .has_nothing = pool_has_nothing(err, at),
                             .has_more = at->has_more,
                             .has_no_converter = has_no_converter };

    if (c->reason[0] != '\0') {
        memcpy(how.reason, c->reason, sizeof(how.reason));
    } else if (c->is_upload && c->upload_flags != 0 && err->what != NULL) {
        /* the client's protocol may define the text */
        (void) snprintf(how.reason, sizeof(how.reason), "%s", err->what);
    } else {
        sym_error_text(err, how.reason, sizeof(how.reason));
    }

    if (is_too_large(c, err)) {
        how.is_too_large = true;
    } else if (c->upload.is_store_error) {
        how.store_error = *err;
    }

    count(c, &how, at);
    end_module(c, &how);
}


/* --- callbacks of the pool --- */

static void
on_failed(void *ctx, const sym_error_t *err, const pool_end_t *at)
{
    fail_module(ctx, err, at, false);
}


static void
on_object(void *ctx, sym_str_t id)
{
    conversion_note_id(ctx, id);
}


/* Other artifacts of the same file are skipped, because the next one may be the
 * wanted one. */
static sym_status_t
on_module(void *ctx, const pool_module_t *module, sym_error_t *err)
{
    conversion_t *c = ctx;
    sym_error_t other = { 0 };
    sym_status_t rc;

    if (c->make != 0) {
        return c->has_key ? conversion_check_id(c, module, err) : SYM_OK;
    }

    conversion_note_ids(c, module);
    c->is_skipped = c->symcache != NULL
                    && conversion_check_kind(c, module, &other) != SYM_OK;
    if (c->is_skipped) {
        return SYM_OK;
    }

    if (conversion_check_kind(c, module, err) != SYM_OK) {
        return err->status;
    }

    rc = c->has_key ? conversion_check_id(c, module, err)
                    : store_upload_name(&c->upload, c->path, module, err);

    if (rc != SYM_OK) {
        return rc;
    }

    if (c->scope.len != 0) {
        c->upload.key.scope = c->scope;
    }

    if (c->symcache != NULL) {
        temporary_symcache_set_key(c->symcache, &c->upload.key);
    } else {
        rc = store_upload_begin(&c->upload, c->all->store, err);
    }

    if (rc == SYM_OK && c->all->events->named != NULL) {
        c->all->events->named(c);
    }

    return rc;
}


static sym_status_t
on_member(void *ctx, const converter_member_t *member, sym_error_t *err)
{
    conversion_t *c = ctx;

    return c->all->events->member(c, member, err);
}


static sym_status_t
on_bytes(void *ctx, const uint8_t *data, size_t len, sym_error_t *err)
{
    conversion_t *c = ctx;

    return c->all->events->bytes(c, data, len, err);
}


static void
on_listed(void *ctx)
{
    finish(ctx, &(conversion_end_t){ .state = SYM_MODULE_READY });
}


static sym_status_t
on_extent(void *ctx, uint32_t number, const uint8_t *data, size_t len,
          sym_error_t *err)
{
    conversion_t *c = ctx;

    if (c->is_skipped) {
        return SYM_OK;
    }

    return c->symcache != NULL
               ? temporary_symcache_put(c->symcache, number, data, len, err)
               : store_upload_extent(&c->upload, number, data, len, err);
}


static bool
can_write(void *ctx)
{
    const conversion_t *c = ctx;

    return c->symcache != NULL || c->upload_flags != 0
           || sym_store_can_write(c->all->store);
}


/* Makes the key for the order of files: the ids alone identify some modules. */
static sym_module_key_t
order_key(const sym_module_key_t *key, bool is_nameless)
{
    sym_module_key_t own = *key;

    own.name = is_nameless ? SYM_STR("") : own.name;
    return own;
}


/* Ignores a lack of memory: at worst an earlier file wins. */
static void
note_order(conversion_t *c, const sym_module_key_t *key, bool is_nameless,
           sym_kind_t kind)
{
    const sym_module_key_t own = order_key(key, is_nameless);

    (void) order_note(&c->all->order, &own, kind, c->sequence);
}


/* Called when the module of `entry` is on disk, or could not be written. */
static void
end_stored(commit_entry_t *entry, const sym_error_t *err)
{
    conversion_t *c = entry->conversion;
    conversion_end_t how = { .state = SYM_MODULE_READY,
                             .kind = entry->kind,
                             .key = &entry->key,
                             .done = &entry->done,
                             .has_more = entry->has_more };

    if (err->status == SYM_OK) {
        note_order(c, &entry->key, entry->is_nameless, entry->kind);
    } else {
        how = (conversion_end_t){ .state = SYM_MODULE_FAILED,
                                  .has_more = entry->has_more,
                                  .store_error = *err };
        sym_error_text(err, how.reason, sizeof(how.reason));
    }

    if (entry->has_more) {
        c->all->events->ended(c, &how);
    } else {
        finish(c, &how);
    }
}


void
conversions_commit(conversions_t *all)
{
    commit_entry_t *entry;

    while ((entry = commit_group_take(&all->group)) != NULL) {
        sym_error_t err = { 0 };

        (void) sym_ingest_finish(entry->ingest, &err);
        end_stored(entry, &err);
        free(entry);
    }
}


int
conversions_commit_due(conversions_t *all)
{
    int left_ms;

    if (all->group.first == NULL) {
        return -1;
    }

    left_ms = pool_busy(all->pool) > 0
                  ? commit_group_left_ms(&all->group, all->commit_ms)
                  : 0;

    if (left_ms == 0) {
        conversions_commit(all);
        return -1;
    }

    return left_ms;
}


/* A text at a URL is read in only one role. */
static bool
is_text(const conversion_t *c)
{
    return c->has_key && c->upload.ref.has_digest;
}


uint32_t
conversion_tries(const conversion_t *c)
{
    const sym_format_file_t wants = { .kinds = c->kinds };
    uint32_t kinds = 0;

    if (c->is_shared) {
        return c->lacks;
    }

    if (is_text(c)) {
        return 0;
    }

    for (size_t i = 0; i < SYM_KINDS; i++) {
        if (sym_format_wants(&wants, sym_kinds[i]->kind)) {
            kinds |= 1u << sym_kinds[i]->kind;
        }
    }

    return kinds;
}


/* Adds an artifact to the record of its file. */
static void
describe_file(const conversion_t *c, const converter_done_t *done, bool is_last,
              sym_path_record_t *file)
{
    file->outcome = SYM_PATH_READ;
    file->given |= 1u << c->upload.kind;
    file->tried = is_last ? conversion_tries(c) | file->given : file->given;
    file->features |= (uint16_t) (done->features & SYM_FEATURES);
    file->n_ids = c->n_ids;
    memcpy(file->ids, c->ids, c->n_ids * sizeof(c->ids[0]));
    if (c->is_shared) {
        file->bytes = done->source_bytes;
    }
}


static store_upload_result_t
put(conversion_t *c, const converter_done_t *done, bool is_last,
    sym_error_t *err)
{
    commit_group_t *group = &c->all->group;
    const sym_module_key_t ordered =
        order_key(&c->upload.key, c->upload.object.is_nameless);
    store_upload_origin_t origin = {
        .source = c->source,
        .force = c->is_forced,
    };
    sym_path_record_t file;

    if (c->place.path.len != 0) {
        file = *c->file;
        describe_file(c, done, is_last, &file);
        origin.path = &c->place;
        origin.file = &file;
        origin.place = c->number;
    }

    /* neither the store's snapshots nor the order contain it yet */
    if (commit_group_has_large(group)
        || commit_group_has(group, &c->upload.key, c->upload.kind))
    {
        conversions_commit(c->all);
    }

    origin.is_late =
        order_has_later(&c->all->order, &ordered, c->upload.kind, c->sequence);
    return store_upload_put(&c->upload, done, &origin, err);
}


/* Called when c->reason has the result; after the last module the conversion is
 * freed. */
static void
skip_artifact(conversion_t *c, const pool_end_t *at)
{
    bool goes_on = at->has_more;

    fail_module(c, &(sym_error_t){ .status = SYM_UNSUPPORTED }, at, false);

    if (goes_on) {
        c->reason[0] = '\0';
    }
}


/* The next commit can use pages freed by this one, and a small store needs
 * them.  So a large module waits at most until its converter has the next file,
 * and not for the output of other converters. */
static bool
can_wait(const conversion_t *c, const converter_done_t *done)
{
    return done->bytes <= COMMIT_GROUP_BYTES || pool_busy(c->all->pool) == 1;
}


/* Lets the module be committed later; false: it cannot wait. */
static bool
put_off(conversion_t *c, const conversion_end_t *how, const pool_end_t *at)
{
    const commit_entry_t entry = { .conversion = c,
                                   .ingest = c->upload.ingest,
                                   .kind = how->kind,
                                   .is_nameless = c->upload.object.is_nameless,
                                   .has_more = how->has_more,
                                   .done = *how->done,
                                   .key = *how->key };

    if (c->all->commit_ms == 0 || !can_wait(c, how->done)
        || !commit_group_add(&c->all->group, &entry))
    {
        return false;
    }

    c->upload.ingest = NULL;
    c->all->n_mangled += how->done->n_mangled;
    count(c, how, at);

    if (how->has_more) {
        begin_next(c);
    }

    return true;
}


static sym_status_t
commit(conversion_t *c, sym_error_t *err)
{
    sym_ingest_t *ingest = c->upload.ingest;

    c->upload.ingest = NULL;
    c->upload.is_store_error = sym_ingest_finish(ingest, err) != SYM_OK;

    if (err->status == SYM_OK) {
        note_order(c, &c->upload.key, c->upload.object.is_nameless,
                   c->upload.kind);
    }

    return err->status;
}


/* The store has kept another artifact. */
static sym_status_t
drop(conversion_t *c, sym_error_t *err)
{
    sym_ingest_t *ingest = c->upload.ingest;

    c->upload.ingest = NULL;
    c->upload.is_store_error = sym_ingest_finish(ingest, err) != SYM_OK;
    return err->status;
}


static sym_status_t
on_done(void *ctx, const converter_done_t *done, const pool_end_t *at,
        sym_error_t *err)
{
    conversion_t *c = ctx;
    conversion_end_t how = { .state = SYM_MODULE_READY,
                             .kind = c->upload.kind,
                             .key = &c->upload.key,
                             .done = done,
                             .has_more = at->has_more };
    store_upload_result_t result;

    c->lacks = done->lacks;
    if (c->is_skipped) {
        skip_artifact(c, at);
        return SYM_OK;
    }

    if (c->is_upload && !c->is_void
        && c->all->events->place(c, done, at->format, err) != SYM_OK)
    {
        return err->status;
    }

    if (c->symcache == NULL && !c->is_void) {
        result = put(c, done, !at->has_more, err);

        if (result == STORE_UPLOAD_STORED) {
            if (put_off(c, &how, at)) {
                return SYM_OK;
            }

            (void) commit(c, err);
        } else if (c->upload.ingest != NULL) {
            (void) drop(c, err);
        }

        if (err->status != SYM_OK) {
            return err->status;
        }

        how.is_better_kept = result == STORE_UPLOAD_KEPT_BETTER;
        how.is_later_kept = result == STORE_UPLOAD_KEPT_LATER;
    }

    c->all->n_mangled += done->n_mangled;
    count(c, &how, at);
    end_module(c, &how);
    return SYM_OK;
}


static void
on_note(void *ctx, const char *text)
{
    conversion_t *c = ctx;

    store_upload_note(&c->upload, text);

    if (c->all->events->note != NULL) {
        c->all->events->note(c, text);
    }
}


static int
on_companion(void *ctx, const sym_companion_t *want, converter_given_t *given)
{
    conversion_t *c = ctx;

    return c->all->events->companion != NULL
               ? c->all->events->companion(c, want, given)
               : -1;
}


/* --- the set of conversions --- */

pool_limits_t
conversion_limits(const options_t *options)
{
    return (pool_limits_t){
        .jobs = options->jobs,
        .threads = options->threads,
        .memory_bytes = options->convert_memory,
        .max_expanded = options->max_expanded,
        .cpu_s = options->convert_cpu_s,
        .stall_s = options->convert_stall_s,
        .swift = options->swift_demangler,
    };
}


bool
conversions_create(conversions_t *all, const pool_limits_t *limits,
                   const conversion_events_t *events, void *owner)
{
    const pool_events_t pool_events = { .module = on_module,
                                        .extent = on_extent,
                                        .can_write = can_write,
                                        .done = on_done,
                                        .failed = on_failed,
                                        .object = on_object,
                                        .member = on_member,
                                        .bytes = on_bytes,
                                        .listed = on_listed,
                                        .note = on_note,
                                        .companion = on_companion };

    *all = (conversions_t){ .events = events, .owner = owner };
    all->last = &all->first;
    all->pool = pool_create(limits, &pool_events);
    return all->pool != NULL;
}


void
conversions_start(conversions_t *all)
{
    conversion_t *c;

    while ((c = conversion_next(all)) != NULL) {
        const pool_input_t input = {
            .fd = c->fd,
            .length = c->length,
            .id = c->has_key ? c->upload.key.id : SYM_STR(""),
            .arch = c->arch,
            .upload = c->upload_flags,
            .is_arch_wish = c->is_arch_wish,
            .kinds = c->kinds,
            .takes_empty = c->takes_empty,
            .takes_parts = c->is_upload,
            .make = c->make,
            .make_name = sym_cstr(c->make_name),
            .text = is_text(c) ? 1 + (unsigned) c->upload.ref.role : 0,
            .reference = c->reference,
        };
        sym_error_t err = { 0 };

        c->is_started = true;
        c->began_at_ns = now_ns();

        if (pool_submit(all->pool, &input, c, &err) != SYM_OK) {
            fail_module(c, &err, &(pool_end_t){ .has_more = false }, true);
        }
    }
}


const char *
conversion_describe(const conversion_end_t *how, char text[128])
{
    char bytes[OUTPUT_SIZE_TEXT], source[OUTPUT_SIZE_TEXT];

    if (how->is_better_kept) {
        return "not stored: the store has better symbols (see --force)";
    }

    if (how->is_later_kept) {
        return "not stored: a later file of the same module replaces it";
    }

    snprintf(text, 128, "%s, %s from %s",
             sym_kind_find(how->kind)->quality_name(how->done->quality),
             output_size(how->done->bytes, bytes),
             output_size(how->done->source_bytes, source));
    return text;
}


void
conversions_stop(conversions_t *all)
{
    if (all->pool != NULL) {
        pool_free(all->pool);
        all->pool = NULL;
    }
}


void
conversions_free(conversions_t *all)
{
    commit_entry_t *entry;

    conversions_stop(all);

    /* its owner has not committed, so the store is abandoned */
    while ((entry = commit_group_take(&all->group)) != NULL) {
        free(entry);
    }

    while (all->first != NULL) {
        conversion_drop(all->first);
    }

    order_forget(&all->order, UINT64_MAX);
}
