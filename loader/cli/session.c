/*
 * session.c - opens the store for all commands.
 */
#include <string.h>
#include <time.h>

#include "cli/commands.h"

/* "~/static/app.js" */
static bool
is_site_path(const char *operand, sym_str_t scope, module_operand_t *m)
{
    const sym_object_ref_t ref = {
        .url = sym_cstr(operand),
        .role = sym_text_role_of(sym_cstr(operand)),
    };
    sym_ref_key_t key;

    if (!sym_str_starts(ref.url, SYM_STR(SYM_REF_PATH))
        || !sym_ref_key(&ref, &key)) {
        return false;
    }

    memcpy(m->id, key.key.id.data, key.key.id.len);
    m->key = (sym_module_key_t){ .scope = scope,
                                 .name = key.key.name,
                                 .id = { m->id, key.key.id.len } };
    return true;
}


bool
module_operand_is(const char *operand, const char *source, module_operand_t *m)
{
    const char *slash = strrchr(operand, '/');
    sym_str_t name = { operand,
                       slash != NULL ? (size_t) (slash - operand) : 0 };
    sym_str_t id = sym_cstr(slash != NULL ? slash + 1 : operand);
    size_t id_len = sym_debug_id_canonical(id, m->id);
    sym_str_t scope = source == NULL ? SYM_STR(SYM_SCOPE_ALL)
                                     : sym_scope_of_word(sym_cstr(source));

    if (is_site_path(operand, scope, m)) {
        return true;
    }

    id_len = id_len != 0 ? id_len : sym_uuid_canonical(id, m->id);

    if (id_len == 0 || (slash != NULL && !sym_module_name_ok(name))) {
        return false;
    }

    /* same form as in requests */
    (void) sym_mozilla_code_id(name, id, &m->code_id);
    m->key =
        (sym_module_key_t){ .scope = scope,
                            .name = name,
                            .id = { m->id, id_len },
                            .code_id = { m->code_id.text, m->code_id.len } };
    return true;
}


bool
module_operand_parse(const char *operand, const char *source,
                     module_operand_t *m)
{
    if (!module_operand_is(operand, source, m)) {
        complain_about(operand, "not a module; expected " MODULE_OPERAND);
        return false;
    }

    return true;
}


sym_store_t *
store_open_write(const options_t *options, bool create, daemon_t *d, int *code)
{
    sym_store_options_t how = { .create = create, .is_hasty = d != NULL };
    sym_store_t *store = NULL;
    sym_error_t err = { 0 };

    if (d != NULL) {
        d->fd = -1;
    }

    while (sym_store_open_write(options->store, &how, &store, &err) != SYM_OK) {
        if (err.status == SYM_BUSY && d != NULL && daemon_connect(d, options)) {
            return NULL;
        }

        if (err.status != SYM_BUSY || !how.is_hasty) {
            *code = store_failure(options, &err);
            return NULL;
        }

        /* there is no daemon, or it is not listening yet, or it has just
         * ended */
        how.is_hasty = false;
        err = (sym_error_t){ 0 };
    }

    return store;
}


static void
call_run(void *arg)
{
    session_t *s = arg;

    s->code = s->run(s);
}


/* Runs the command with an open store, and closes the store. */
static int
run_session(session_t *s)
{
    sym_error_t err = { 0 };

    s->out = output_create();

    if (s->out == NULL) {
        sym_store_close(s->store);
        return EXIT_OUTPUT;
    }

    if (sym_store_guarded(s->store, call_run, s, &err) == SYM_OK) {
        sym_store_close(s->store);

    } else {
        sym_store_abandon(s->store);
        s->code = store_failure(s->options, &err);
    }

    return output_end(s->out, s->code);
}


int
session_read(const options_t *options, int (*run)(session_t *s), void *ctx)
{
    session_t s = { .options = options, .run = run, .ctx = ctx };
    sym_error_t err = { 0 };

    if (sym_store_open_read(options->store, &s.store, &err) != SYM_OK) {
        return store_failure(options, &err);
    }

    return run_session(&s);
}


int
session_write(const options_t *options, int (*run)(session_t *s),
              int (*by_daemon)(const options_t *options, daemon_t *d))
{
    session_t s = { .options = options, .run = run };
    daemon_t d = { .fd = -1 };

    s.store = store_open_write(options, false, by_daemon != NULL ? &d : NULL,
                               &s.code);

    if (s.store != NULL) {
        return run_session(&s);
    }

    if (d.fd >= 0) {
        s.code = by_daemon(options, &d);
        daemon_close(&d);
    }

    return s.code;
}


int
session_module(session_t *s, const char *operand, const sym_module_key_t *key,
               sym_kind_t kind, module_t *m)
{
    sym_snapshot_t *snapshot;
    sym_error_t err = { 0 };
    sym_status_t rc = sym_snapshot_begin(s->store, &snapshot, &err);

    if (rc != SYM_OK) {
        return store_failure(s->options, &err);
    }

    rc = module_open(m, snapshot, key, kind, &err);

    if (rc == SYM_OK && m->record.state == SYM_MODULE_READY) {
        sym_store_touch(s->store, m->record.slot, (uint32_t) time(NULL));
        return EXIT_FINE;
    }

    if (rc == SYM_OK) {
        complain_about(operand, "no symbols: %s",
                       sym_module_state_name(m->record.state));

    } else if (rc == SYM_NOT_FOUND) {
        complain_about(operand, "not in the store");
    }

    sym_snapshot_end(snapshot);

    return rc == SYM_OK || rc == SYM_NOT_FOUND
               ? EXIT_PARTLY
               : store_failure(s->options, &err);
}


int
session_attach(session_t *s, const char *operand, const sym_module_key_t *key,
               module_t *m, sym_resolver_t *resolver)
{
    sym_extent_source_t extents;
    sym_error_t err = { 0 };
    int code = session_module(s, operand, key, SYM_KIND_SYMCACHE, m);

    if (code != EXIT_FINE) {
        return code;
    }

    extents = module_extents(m);

    if (sym_resolver_attach(resolver, 0, m->record.module_id, &extents, &err)
        != SYM_OK)
    {
        sym_snapshot_end(m->snapshot);
        return store_failure(s->options, &err);
    }

    return EXIT_FINE;
}
