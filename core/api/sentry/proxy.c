/*
 * proxy.c - finds the file for NAME/SIGNATURE/NAME.
 *
 * The rules are Symbolicator's, in its order: a prefix of the signature, then
 * the suffix of the name.  Any other path means a PE file.
 */
#include "api/sentry/proxy.h"

#include <strings.h>

#include "sources/paths/rules.h"

#define BIT(file) (1u << (file))


static bool
is_same_nocase(sym_str_t a, sym_str_t b)
{
    return a.len == b.len && strncasecmp(a.data, b.data, a.len) == 0;
}


/* Removes the prefix, in any case. */
static bool
take(sym_str_t *signature, sym_str_t prefix)
{
    if (signature->len < prefix.len
        || strncasecmp(signature->data, prefix.data, prefix.len) != 0)
    {
        return false;
    }

    *signature =
        sym_str(signature->data + prefix.len, signature->len - prefix.len);
    return true;
}


/* Splits the part before the next slash off *path; false: it has no slash. */
static bool
next_part(sym_str_t *path, sym_str_t *part)
{
    const char *slash =
        path->len != 0 ? memchr(path->data, '/', path->len) : NULL;
    size_t len;

    if (slash == NULL) {
        return false;
    }

    len = (size_t) (slash - path->data);
    *part = sym_str(path->data, len);
    *path = sym_str(slash + 1, path->len - len - 1);
    return true;
}


bool
sentry_read_file(sym_str_t path, sym_object_ref_t *object, unsigned *files)
{
    sym_str_t name, signature;

    *object = (sym_object_ref_t){ .type = SYM_OBJECT_PE };

    if (!next_part(&path, &name) || !next_part(&path, &signature)
        || !is_same_nocase(name, path) || !sym_source_name_ok(name))
    {
        return false;
    }

    if (sym_str_ends_nocase(name, SYM_STR(".debug"))
        && take(&signature, SYM_STR("elf-buildid-sym-")))
    {
        object->type = SYM_OBJECT_ELF;
        *files = BIT(SYM_SOURCE_ELF_DEBUG);
    } else if (take(&signature, SYM_STR("elf-buildid-"))) {
        object->type = SYM_OBJECT_ELF;
        *files = BIT(SYM_SOURCE_ELF_CODE);
    } else if (sym_str_ends_nocase(name, SYM_STR(".dwarf"))
               && take(&signature, SYM_STR("mach-uuid-sym-")))
    {
        object->type = SYM_OBJECT_MACHO;
        *files = BIT(SYM_SOURCE_MACH_DEBUG);
    } else if (take(&signature, SYM_STR("mach-uuid-"))) {
        object->type = SYM_OBJECT_MACHO;
        *files = BIT(SYM_SOURCE_MACH_CODE);
    } else if (sym_str_ends_nocase(name, SYM_STR(".pdb"))) {
        object->debug_file = name;
        *files = BIT(SYM_SOURCE_PDB);
        return sym_debug_id_read_breakpad(signature, &object->debug_id);
    } else {
        *files = BIT(SYM_SOURCE_PE);
    }

    object->code_file = name;
    return sym_code_id_read(signature, &object->code_id);
}
