#include "daemon/upload_state.h"

#include <stdio.h>
#include <string.h>

/* A map has no id inside, so it is the one that was sent, or that its name begins
 * with: UUID.plist, UUID.bcsymbolmap. */
static bool
find_id(const upload_t *u, const char *path, sym_debug_id_t *id)
{
    sym_str_t name = sym_object_file_name(sym_cstr(path));
    const char *dot = memrchr(name.data, '.', name.len);

    *id = u->debug_id;
    return id->form == SYM_DEBUG_ID_UUID
           || (dot != NULL
               && sym_debug_id_read_sentry(
                   sym_str(name.data, (size_t) (dot - name.data)), id)
               && id->form == SYM_DEBUG_ID_UUID);
}


bool
upload_map_begin(upload_t *u)
{
    submission_t *c = NULL;

    u->map = 0;
    if (find_id(u, upload_path(u), &u->map_id)) {
        c = upload_submit_current(u);
    }

    if (c == NULL) {
        return false;
    }

    c->conversion.upload_flags = CONVERTER_UPLOAD | CONVERTER_MAP;
    conversions_add(u->all->conversions, &c->conversion);
    return true;
}


static sym_status_t
add_path(upload_t *u, sym_object_type_t type, unsigned file, sym_error_t *err)
{
    const sym_object_ref_t ref = { .type = type, .debug_id = u->map_id };

    return upload_add_place(u, &ref, file, err);
}


/* Nobody says of which type the module of a map is: the id in a path has an age
 * if it is a PE file. */
static sym_status_t
add_paths(upload_t *u, sym_error_t *err)
{
    switch (u->map) {
    case SYM_COMPANION_UUID_MAP:
        return add_path(u, SYM_OBJECT_MACHO, SYM_FILE(UUIDMAP), err);
    case SYM_COMPANION_SYMBOL_MAP:
        return add_path(u, SYM_OBJECT_MACHO, SYM_FILE(BCSYMBOLMAP), err);
    case SYM_COMPANION_LINE_MAP:
        return add_path(u, SYM_OBJECT_MACHO, SYM_FILE(IL2CPP), err) == SYM_OK
                   ? add_path(u, SYM_OBJECT_PE, SYM_FILE(IL2CPP), err)
                   : err->status;
    default:
        return SYM_OK;
    }
}


static void
end(upload_t *u, upload_state_t how)
{
    upload_report_file(u, how);
    upload_next_file(u);
}


/* A map replaces what is there.  If the file is no map, the reason is that of the
 * conversion. */
void
upload_map_read(upload_t *u, const conversion_end_t *how)
{
    sym_error_t err = { 0 };

    if (how->state != SYM_MODULE_READY) {
        (void) snprintf(u->reason, sizeof(u->reason), "%s", how->reason);
        end(u,
            how->state == SYM_MODULE_FAILED ? UPLOAD_FAILED : UPLOAD_REFUSED);
        return;
    }

    if (add_paths(u, &err) != SYM_OK) {
        (void) snprintf(u->reason, sizeof(u->reason), "out of memory");
        end(u, UPLOAD_FAILED);
        return;
    }

    if (u->job.n_paths == 0) {
        if (u->map != 0) {
            (void) snprintf(u->reason, sizeof(u->reason), UPLOAD_NO_PLACE);
        }
        end(u, UPLOAD_REFUSED);
        return;
    }

    u->is_stored = true;
    u->is_newest = true;
    u->reason[0] = '\0';
    upload_begin_placing(u);
}
