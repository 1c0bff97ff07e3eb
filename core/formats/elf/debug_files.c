#include "formats/elf/debug_files.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/native/choose.h"
#include "formats/symcache.h"

#define TEXT(s) (int) (s).len, (s).data

typedef struct {
    char text[2 * SYM_BUILD_ID_MAX + 1];
} id_text_t;

static id_text_t
id_text(sym_str_t id)
{
    id_text_t t = { "none" };

    if (id.len != 0) {
        t.text[sym_elf_code_id(id, t.text)] = '\0';
    }

    return t;
}


static sym_str_t
build_id(const sym_elf_t *elf)
{
    sym_str_t id;

    return sym_elf_build_id(elf, &id) == SYM_OK ? id : sym_str("", 0);
}


void
sym_elf_companion_close(sym_elf_companion_t *c)
{
    sym_elf_close(c->elf);
    free(c->file.data);
    *c = (sym_elf_companion_t){ 0 };
}


/* Whether the file is the requested one.  If it is not, notes why. */
typedef bool (*is_it_pt)(const void *link, const sym_elf_companion_t *c,
                         const sym_format_services_t *services);

typedef struct {
    const sym_format_services_t *services;
    const sym_elf_options_t *options;
    is_it_pt is_it;
    const void *link;
    sym_elf_companion_t *to;
} choice_t;

static sym_status_t
take(void *ctx, const sym_companion_file_t *file, sym_error_t *err)
{
    const choice_t *choice = ctx;
    sym_elf_companion_t *to = choice->to;
    sym_error_t bad = { 0 };

    to->elf = sym_elf_open(file->data, file->len, choice->options, &bad);
    if (bad.status == SYM_NOMEM) {
        return sym_fail(err, SYM_NOMEM, bad.what);
    }

    if (to->elf != NULL && choice->is_it(choice->link, to, choice->services)) {
        return SYM_OK;
    }

    sym_elf_close(to->elf);
    to->elf = NULL;
    return SYM_NOT_FOUND;
}


/* Opens the first matching file.  SYM_OK even if no file matches. */
static sym_status_t
choose(sym_companion_t *want, const sym_format_services_t *services,
       const sym_elf_options_t *options, is_it_pt is_it, const void *link,
       sym_elf_companion_t *to, sym_error_t *err)
{
    choice_t choice = { services, options, is_it, link, to };

    return sym_native_choose(want, services, take, &choice, &to->file, err);
}


/* --- .gnu_debuglink --- */

typedef struct {
    sym_debuglink_t link; /* name empty: the file has no link */
    sym_str_t id;
} debug_link_t;

static bool
is_debug(const void *link, const sym_elf_companion_t *c,
         const sym_format_services_t *services)
{
    const debug_link_t *wanted = link;
    sym_str_t id = build_id(c->elf);
    uint32_t crc;

    if (id.len != 0 && wanted->id.len != 0 && !sym_str_eq(id, wanted->id)) {
        services->note(services->ctx,
                       "%.*s is of another build: its build id is %s, not %s",
                       TEXT(wanted->link.name), id_text(id).text,
                       id_text(wanted->id).text);
        return false;
    }

    if (c->file.is_by_id) {
        return id.len != 0;
    }

    crc = sym_debuglink_crc(0, c->file.data, c->file.len);
    if (crc != wanted->link.crc) {
        services->note(services->ctx,
                       "%.*s is another file: its CRC is %08" PRIx32
                       ", not %08" PRIx32,
                       TEXT(wanted->link.name), crc, wanted->link.crc);
        return false;
    }

    return true;
}


sym_status_t
sym_elf_debug_open(sym_elf_t *elf, const sym_format_services_t *services,
                   sym_elf_companion_t *to, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max =
                                            services->unpacked_max };
    debug_link_t wanted = { .id = build_id(elf) };
    sym_error_t bad = { 0 };
    sym_companion_t want;

    if (sym_elf_debuglink(elf, &wanted.link, &bad) != SYM_OK) {
        wanted.link.name = sym_str("", 0);
    }

    if ((wanted.link.name.len == 0 && wanted.id.len == 0)
        || !sym_companion_set(&want, SYM_COMPANION_DEBUG, wanted.link.name,
                              sym_str("", 0), wanted.id))
    {
        return SYM_OK;
    }

    return choose(&want, services, &options, is_debug, &wanted, to, err);
}


/* --- dwz --- */

/* The id of a supplementary file.  DWARF 5 has a section for it. */
static sym_str_t
alt_id(sym_elf_t *elf)
{
    sym_error_t bad = { 0 };
    sym_str_t id;

    return sym_elf_sup_id(elf, &id, &bad) == SYM_OK ? id : build_id(elf);
}


static bool
is_alt(const void *link, const sym_elf_companion_t *c,
       const sym_format_services_t *services)
{
    const sym_elf_altlink_t *wanted = link;
    sym_str_t id = alt_id(c->elf);

    if (!sym_str_eq(id, wanted->id)) {
        services->note(
            services->ctx,
            "the supplementary file %.*s is of another build: its id is "
            "%s, not %s",
            TEXT(wanted->name), id_text(id).text, id_text(wanted->id).text);
        return false;
    }

    return true;
}


sym_status_t
sym_elf_alt_open(sym_elf_t *elf, const sym_format_services_t *services,
                 sym_elf_companion_t *to, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max = services->unpacked_max,
                                        .is_part = true };
    sym_elf_altlink_t link;
    sym_error_t bad = { 0 };
    sym_companion_t want;

    if (sym_elf_altlink(elf, &link, &bad) != SYM_OK) {
        return SYM_OK;
    }

    if (sym_companion_set(&want, SYM_COMPANION_ALT, link.name, sym_str("", 0),
                          link.id)
        && choose(&want, services, &options, is_alt, &link, to, err) != SYM_OK)
    {
        return err->status;
    }

    if (to->elf == NULL) {
        to->is_missing = true;
        services->note(
            services->ctx,
            "names are missing: they are in the supplementary file %.*s "
            "(%s), which is not here",
            TEXT(link.name), id_text(link.id).text);
    }

    return SYM_OK;
}


static sym_status_t
put_ids(const sym_format_file_t *f, const sym_elf_t *elf, sym_str_t id,
        sym_error_t *err)
{
    char code_id[2 * SYM_BUILD_ID_MAX], debug_id[SYM_ELF_DEBUG_ID_LEN];
    const sym_module_info_t info = {
        .debug_id = { debug_id, sizeof(debug_id) },
        .debug_file = SYM_STR(""),
        .code_id = { code_id, sym_elf_code_id(id, code_id) },
        .arch = sym_cstr(sym_elf_info(elf)->arch),
        .os = SYM_STR("Linux"),
        .source_bytes = f->data.len,
        .flags = SYM_FEATURE_DEBUG_INFO,
    };

    sym_elf_debug_id_of(id, sym_elf_info(elf)->is_big_endian, debug_id);
    return sym_format_put_ids(f, &info, err);
}


/* Object files and kernel modules are relocatable, too, but have code or
 * symbols. */
sym_status_t
sym_elf_alt_put(const sym_format_file_t *f, sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max =
                                            f->services->unpacked_max,
                                        .is_part = true };
    sym_elf_t *elf = sym_elf_open((const uint8_t *) f->data.data, f->data.len,
                                  &options, err);
    const sym_elf_info_t *info = elf != NULL ? sym_elf_info(elf) : NULL;
    sym_status_t rc = elf != NULL ? SYM_NOT_FOUND : err->status;
    sym_str_t id;

    if (elf != NULL && info->has_debug_info && !info->has_code
        && !info->has_symbols)
    {
        id = alt_id(elf);
        rc = id.len != 0 && id.len <= SYM_BUILD_ID_MAX
                 ? put_ids(f, elf, id, err)
                 : SYM_NOT_FOUND;
    }

    sym_elf_close(elf);
    return rc;
}


/* --- split units --- */

static void *
open_split(const sym_native_splits_t *splits, const sym_companion_file_t *file,
           sym_error_t *err)
{
    const sym_elf_options_t options = { .unpacked_max =
                                            splits->services->unpacked_max,
                                        .is_part = true };
    sym_elf_t *elf = sym_elf_open(file->data, file->len, &options, err);

    if (elf != NULL
        && sym_elf_info(elf)->is_big_endian != splits->is_big_endian) {
        sym_elf_close(elf);
        return NULL;
    }

    return elf;
}


/* gcc puts each type into a section of its own, before the unit's section. */
static sym_status_t
find_split_section(void *object, const char *name, sym_str_t *bytes,
                   sym_error_t *err)
{
    return sym_elf_section_last(object, name, bytes, err);
}


static void
close_split(void *object)
{
    sym_elf_close(object);
}


const sym_split_format_t sym_elf_split_format = { open_split,
                                                  find_split_section,
                                                  close_split };
