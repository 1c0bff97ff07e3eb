#include "daemon/upload_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifacts/sources/bundle_name.h"

static bool
is_type(sym_str_t type, const char *word)
{
    return sym_str_eq(type, sym_cstr(word));
}


/* Reads "TYPE/DEBUG-ID" or "TYPE".  False: such files are not used. */
static bool
read_type(sym_str_t field, sym_text_role_t *role, sym_debug_id_t *id)
{
    const char *slash = memchr(field.data, '/', field.len);
    size_t len = slash != NULL ? (size_t) (slash - field.data) : field.len;
    sym_str_t type = sym_str(field.data, len);

    *id = (sym_debug_id_t){ .form = SYM_DEBUG_ID_NONE };
    *role = is_type(type, SYM_BUNDLE_SCRIPT)      ? SYM_TEXT_SCRIPT
            : is_type(type, SYM_BUNDLE_SOURCEMAP) ? SYM_TEXT_SOURCEMAP
                                                  : SYM_TEXT_SOURCE;
    if (*role == SYM_TEXT_SOURCE) {
        return is_type(type, SYM_BUNDLE_SOURCE);
    }

    return slash == NULL
           || sym_debug_id_read_sentry(sym_str(slash + 1, field.len - len - 1),
                                       id);
}


static sym_status_t
add_text_path(upload_t *u, const sym_object_ref_t *ref, sym_error_t *err)
{
    sym_source_plan_t plan;
    sym_arena_t arena;
    sym_status_t rc;

    sym_arena_init(&arena, 0);
    rc = sym_source_plan(&arena, ref, &u->rules, 0, SYM_DEBUG_FILES_FIRST,
                         &plan);
    if (rc == SYM_OK && plan.n != 0) {
        upload_add_path(&u->job, plan.at[0].path);
    }

    sym_arena_drop(&arena);
    return rc == SYM_OK ? SYM_OK : sym_fail(err, rc, NULL);
}


/* Source code has no debug id. */
static sym_status_t
add_id_path(upload_t *u, sym_text_role_t role, const sym_debug_id_t *id,
            sym_error_t *err)
{
    char url[sizeof(SYM_REF_URN) + SYM_ID_TEXT_MAX] = SYM_REF_URN;
    const size_t scheme = sizeof(SYM_REF_URN) - 1;
    size_t len = sym_debug_id_write_sentry(id, url + scheme);
    const sym_object_ref_t ref = { .role = role,
                                   .url = sym_str(url, scheme + len) };

    return role == SYM_TEXT_SOURCE || len == 0 ? SYM_OK
                                               : add_text_path(u, &ref, err);
}


/* The value of a field of the bundle. */
static sym_str_t
value_of(const upload_t *u, const char *field)
{
    for (size_t i = 0; i < u->n_members && u->members[i].is_field; i++) {
        if (strcmp(u->members[i].field, field) == 0) {
            return sym_cstr(u->members[i].name);
        }
    }

    return SYM_STR("");
}


/* "~/PATH" of a URL of any host, as own.c of the API looks for it; false: the
 * URL has no path. */
static bool
write_url(sym_str_t url, char out[CONVERTER_PATH_MAX + 2], sym_str_t *to)
{
    size_t len = 0, start = 0;

    while (len < url.len && url.data[len] != '?' && url.data[len] != '#') {
        len++;
    }

    if (!sym_str_starts(url, SYM_STR(SYM_REF_PATH))) {
        while (start + 3 <= len && memcmp(url.data + start, "://", 3) != 0) {
            start++;
        }
        if (start + 3 > len) {
            return false;
        }
        start += 3;
    }

    while (start < len && url.data[start] != '/') {
        start++;
    }

    if (start == len || len - start > CONVERTER_PATH_MAX) {
        return false;
    }

    out[0] = '~';
    memcpy(out + 1, url.data + start, len - start);
    *to = sym_str(out, len - start + 1);
    return true;
}


static sym_status_t
add_url_path(upload_t *u, sym_text_role_t role, sym_str_t url, sym_error_t *err)
{
    char text[CONVERTER_PATH_MAX + 2];
    sym_object_ref_t ref = { .role = role,
                             .release = value_of(u, "release"),
                             .dist = value_of(u, "dist") };

    return ref.release.len == 0 || ref.release.len > SYM_REF_RELEASE_MAX
                   || ref.dist.len > SYM_REF_DIST_MAX
                   || !write_url(url, text, &ref.url)
               ? SYM_OK
               : add_text_path(u, &ref, err);
}


static void
refuse(upload_t *u, upload_state_t how, const char *why)
{
    (void) snprintf(u->reason, sizeof(u->reason), "%s", why);
    upload_report_file(u, how);
    upload_next_file(u);
}


/* On a disk, many files take little longer than one if they are placed
 * together. */
static void
add_to_batch(upload_t *u)
{
    if (u->batch == NULL) {
        u->batch = calloc(PLACER_FILES_MAX, sizeof(*u->batch));
    }
    if (u->batch == NULL) {
        refuse(u, UPLOAD_FAILED, "out of memory");
        return;
    }

    upload_make_job(u);
    u->job.number = u->current;
    u->batch[u->n_batch++] = u->job;
    if (u->n_batch == PLACER_FILES_MAX) {
        upload_scripts_place(u);
    } else {
        upload_next_file(u);
    }
}


/* A script or map is at a path by its debug id and, if the bundle has a release,
 * at one by that and its URL.  It replaces what is there. */
void
upload_script_begin(upload_t *u)
{
    const upload_file_t *m = &u->members[u->current];
    sym_error_t err = { 0 };
    sym_text_role_t role;
    sym_debug_id_t id;

    if (!read_type(sym_cstr(m->field), &role, &id)) {
        refuse(u, UPLOAD_REFUSED, "files of this type are not used");
        return;
    }

    if (add_id_path(u, role, &id, &err) != SYM_OK
        || add_url_path(u, role, sym_cstr(m->name), &err) != SYM_OK)
    {
        refuse(u, UPLOAD_FAILED, "out of memory");
        return;
    }

    if (u->job.n_paths == 0) {
        refuse(u, UPLOAD_REFUSED,
               "it has no debug id, and no path in a release");
        return;
    }

    u->is_stored = true;
    u->is_newest = true;
    if (u->part_bytes != 0) {
        upload_begin_placing(u);
    } else {
        add_to_batch(u);
    }
}


void
upload_scripts_place(upload_t *u)
{
    u->job = (placer_job_t){ .kind = PLACER_FILES,
                             .files = u->batch,
                             .n_files = u->n_batch };
    u->why[0] = '\0';
    placer_add(u->all->placer, &u->job);
}


void
upload_scripts_placed(upload_t *u)
{
    char why[CONVERSION_REASON_MAX] = "";
    size_t last = u->current;

    for (size_t i = 0; i < u->n_batch; i++) {
        u->job = u->batch[i];
        u->current = u->job.number;
        u->is_stored = u->is_newest = true;
        u->reason[0] = '\0';
        upload_report_placed(u);
        if (u->counts.failed != 0 && why[0] == '\0') {
            memcpy(why, u->reason, sizeof(why));
        }
    }

    /* the answer says why the first one failed */
    if (why[0] != '\0') {
        memcpy(u->reason, why, sizeof(why));
    }

    u->n_batch = 0;
    u->current = last;
    upload_next_file(u);
}
