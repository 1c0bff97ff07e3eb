#include "daemon/upload_state.h"

#include <stdlib.h>

#include "common/say.h"
#include "json/out.h"

/* Files of one upload that are logged one by one; the report has all. */
#define LOGGED_MAX 100

static bool
more(sym_out_t *out, size_t need)
{
    upload_t *u = out->ctx;
    size_t used = u->report != NULL ? (size_t) (out->pos - u->report) : 0;
    size_t size = 2 * u->report_size + need + 4096;
    char *grown = realloc(u->report, size);

    if (grown == NULL) {
        return false;
    }

    u->report = grown;
    u->report_size = size;
    out->pos = grown + used;
    out->end = grown + size;
    return true;
}


void
upload_report_begin(upload_t *u)
{
    u->out = (sym_out_t){ .more = more, .ctx = u };
    sym_out_raw(&u->out, SYM_STR("{\"files\": ["));
}


static void
put_member(sym_out_t *out, const char *key, sym_str_t value)
{
    if (value.len != 0) {
        sym_out_printf(out, ", \"%s\": ", key);
        sym_out_string(out, value);
    }
}


static void
put_modules(upload_t *u)
{
    sym_out_t *out = &u->out;

    sym_out_raw(out, SYM_STR(", \"modules\": ["));
    for (unsigned i = 0; i < u->n_modules; i++) {
        const upload_module_t *m = &u->modules[i];
        bool is_first = true;

        sym_out_raw(out,
                    i == 0 ? SYM_STR("{\"name\": ") : SYM_STR(", {\"name\": "));
        sym_out_string(out, sym_str(m->name, m->name_len));
        put_member(out, "debug_id", sym_str(m->id, m->id_len));
        put_member(out, "code_id", sym_str(m->code_id.text, m->code_id.len));
        sym_out_raw(out, SYM_STR(", \"kinds\": ["));
        for (size_t k = 0; k < SYM_KINDS; k++) {
            if ((m->kinds >> sym_kinds[k]->kind & 1) != 0) {
                sym_out_raw(out, is_first ? SYM_STR("") : SYM_STR(", "));
                sym_out_string(out, sym_cstr(sym_kinds[k]->name));
                is_first = false;
            }
        }
        sym_out_raw(out, SYM_STR("]}"));
    }
    sym_out_raw(out, SYM_STR("]"));
}


/* An upload of many files must not fill the log. */
static void
log_file(upload_t *u, const char *name, const char *state)
{
    if (++u->n_logged > LOGGED_MAX) {
        return;
    }

    complain_about(u->who[0] != '\0' ? u->who : "upload", "%s: %s%s%s",
                   name[0] != '\0' ? name : "a file", state,
                   u->reason[0] != '\0' ? ": " : "", u->reason);
}


/* Adds the result of the current file. */
void
upload_report_file(upload_t *u, upload_state_t how)
{
    static const char *const states[] = { "stored", "same", "kept", "refused",
                                          "failed" };
    uint64_t *const counts[] = { &u->counts.stored, &u->counts.same,
                                 &u->counts.kept, &u->counts.refused,
                                 &u->counts.failed };
    const char *state = states[how];
    const upload_file_t *m = &u->members[u->current];
    sym_out_t *out = &u->out;

    sym_out_raw(out, u->has_file ? SYM_STR(", {\"file\": ")
                                 : SYM_STR("{\"file\": "));
    u->has_file = true;
    ++*counts[how];
    sym_out_string(out, sym_cstr(m->name));
    put_member(out, "field", sym_cstr(m->field));
    sym_out_printf(out, ", \"bytes\": %llu, \"state\": \"%s\"",
                   (unsigned long long) m->length, state);
    put_member(out, "reason", sym_cstr(u->reason));
    if (u->job.n_paths != 0) {
        put_member(out, "path", sym_cstr(u->job.paths[0]));
    }
    put_modules(u);
    sym_out_raw(out, SYM_STR("}"));

    log_file(u, m->name, state);

    /* after a failure, the client sends its last part again */
    upload_symbfile_drop(u, how != UPLOAD_FAILED ? u->joined : 0);
    u->joined = 0;

    if (u->is_pending) {
        u->is_pending = false;
        u->all->placed(u->all->owner);
    }
}


static void
report_archives(upload_t *u)
{
    bool is_first = true;

    sym_out_raw(&u->out, SYM_STR("], \"archives\": ["));
    for (size_t i = 0; i < u->n_members; i++) {
        const upload_file_t *m = &u->members[i];

        if (m->is_archive) {
            sym_out_raw(&u->out, is_first ? SYM_STR("{\"field\": ")
                                          : SYM_STR(", {\"field\": "));
            sym_out_string(&u->out, sym_cstr(m->field));
            sym_out_printf(&u->out, ", \"bytes\": %llu",
                           (unsigned long long) m->length);
            if (m->n_skipped != 0) {
                sym_out_printf(&u->out, ", \"skipped\": %u", m->n_skipped);
            }
            sym_out_raw(&u->out, SYM_STR("}"));
            is_first = false;
        }
    }
}


/* Adds the values of a form's fields, so that the worker need not read the
 * form. */
void
upload_report_end(upload_t *u)
{
    bool is_first = true;

    if (u->n_logged > LOGGED_MAX) {
        complain_about(u->who[0] != '\0' ? u->who : "upload", "%u other files",
                       u->n_logged - LOGGED_MAX);
    }

    report_archives(u);
    sym_out_printf(&u->out, "], \"try\": %s, \"fields\": {",
                   u->is_try ? "true" : "false");
    for (size_t i = 0; i < u->n_members; i++) {
        const upload_file_t *m = &u->members[i];

        if (m->is_field) {
            sym_out_raw(&u->out, is_first ? SYM_STR("") : SYM_STR(", "));
            sym_out_string(&u->out, sym_cstr(m->field));
            sym_out_raw(&u->out, SYM_STR(": "));
            sym_out_string(&u->out, sym_cstr(m->name));
            is_first = false;
        }
    }
    sym_out_raw(&u->out, SYM_STR("}}"));
}
