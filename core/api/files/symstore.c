/*
 * symstore.c - finds the file for NAME/SIGNATURE/NAME.
 *
 * The rules are Symbolicator's, in its order: a prefix of the signature, then
 * the suffix of the name.  Any other path means a PE file.
 */
#include <strings.h>

#include "api/files/paths.h"
#include "sources/paths/rules.h"

/* .NET's client fills shorter build ids with zeros. */
#define PADDED_DIGITS 40
#define PADDING 8

/* The age of all portable PDBs. */
#define PORTABLE_AGE 0xffffffff


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


bool
sym_files_next_part(sym_str_t *path, sym_str_t *part)
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


/* A build id of 16 or 8 bytes, filled with zeros; no hash ends in so many. */
static sym_str_t
unpadded(sym_str_t id)
{
    size_t len = id.len;

    while (id.len == PADDED_DIGITS && len > 0 && id.data[len - 1] == '0') {
        len--;
    }

    return len > id.len - PADDING ? id : sym_str(id.data, len > 16 ? 32 : 16);
}


static bool
read_signature(sym_str_t name, sym_str_t signature, sym_file_request_t *request)
{
    sym_object_ref_t *object = &request->object;
    unsigned *files = &request->steps[0].files;

    object->type = SYM_OBJECT_PE;

    if (sym_str_ends_nocase(name, SYM_STR(".debug"))
        && take(&signature, SYM_STR("elf-buildid-sym-")))
    {
        object->type = SYM_OBJECT_ELF;
        *files = SYM_FILE(ELF_DEBUG);
    } else if (take(&signature, SYM_STR("elf-buildid-"))) {
        object->type = SYM_OBJECT_ELF;
        *files = SYM_FILE(ELF_CODE);
    } else if (sym_str_ends_nocase(name, SYM_STR(".dwarf"))
               && take(&signature, SYM_STR("mach-uuid-sym-")))
    {
        object->type = SYM_OBJECT_MACHO;
        *files = SYM_FILE(MACH_DEBUG);
    } else if (take(&signature, SYM_STR("mach-uuid-"))) {
        object->type = SYM_OBJECT_MACHO;
        *files = SYM_FILE(MACH_CODE);
    } else if (sym_str_ends_nocase(name, SYM_STR(".pdb"))) {
        object->debug_file = name;
        *files = SYM_FILES_PDB | SYM_FILE(PORTABLE_PDB);
        if (!sym_debug_id_read_breakpad(signature, &object->debug_id)) {
            return false;
        }
        if (object->debug_id.age == PORTABLE_AGE) {
            object->type = SYM_OBJECT_PE_DOTNET;
        }
        return true;
    } else {
        *files = SYM_FILE(PE) | SYM_FILE(PE_PACKED);
    }

    object->code_file = name;
    return sym_code_id_read(object->type == SYM_OBJECT_ELF ? unpadded(signature)
                                                           : signature,
                            &object->code_id);
}


bool
sym_files_read_signature(sym_str_t path, sym_str_t *name, sym_str_t *file,
                         sym_file_request_t *request)
{
    sym_str_t signature;

    *request = (sym_file_request_t){ 0 };
    if (!sym_files_next_part(&path, name)
        || !sym_files_next_part(&path, &signature))
    {
        return false;
    }

    *file = path;
    return sym_source_name_ok(*name)
           && read_signature(*name, signature, request);
}


bool
sym_files_read_symstore(sym_str_t path, sym_str_t query,
                        sym_file_request_t *request)
{
    sym_str_t name, file;

    (void) query;

    return sym_files_read_signature(path, &name, &file, request)
           && sym_str_eq_nocase(name, file);
}
