#include "object.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/elf/elf.h"
#include "formats/macho/macho.h"

#define UNPACKED_MAX ((uint64_t) 4 << 30)

/* The sections that are read, by libdwarf's names. */
static const char *const names[] = {
    ".debug_info",        ".debug_abbrev", ".debug_line",   ".debug_str",
    ".debug_line_str",    ".debug_addr",   ".debug_ranges", ".debug_rnglists",
    ".debug_str_offsets", ".debug_types",
};

#define N_NAMES (sizeof(names) / sizeof(names[0]))

typedef struct {
    const char *name;
    sym_str_t bytes;
} section_t;

typedef struct {
    const void *reader;          /* has what the sections show */
    section_t sections[N_NAMES]; /* an empty one would be an error */
    size_t n_sections;
    bool is_64bit, is_big_endian;
    uint64_t image_base;
    uint64_t file_size;
} object_t;

typedef sym_status_t (*section_pt)(void *reader, const char *name,
                                   sym_str_t *bytes, sym_error_t *err);


void
object_die(const char *what, const char *why)
{
    (void) fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}


static _Noreturn void
die_of(const char *what, const sym_error_t *err)
{
    char text[256];

    object_die(what, sym_error_text(err, text, sizeof(text)));
}


/* --- the two readers --- */

static sym_status_t
elf_section(void *reader, const char *name, sym_str_t *bytes, sym_error_t *err)
{
    return sym_elf_section(reader, name, bytes, err);
}


static sym_status_t
macho_section(void *reader, const char *name, sym_str_t *bytes,
              sym_error_t *err)
{
    return sym_macho_section(reader, name, bytes, err);
}


static void
take_sections(object_t *o, section_pt section, void *reader)
{
    o->reader = reader;
    for (size_t i = 0; i < N_NAMES; i++) {
        sym_error_t err = { 0 };
        sym_str_t bytes = { NULL, 0 };
        sym_status_t rc = section(reader, names[i], &bytes, &err);

        if (rc != SYM_OK && rc != SYM_NOT_FOUND) {
            die_of(names[i], &err);
        }

        if (bytes.len != 0) {
            o->sections[o->n_sections++] = (section_t){ names[i], bytes };
        }
    }
}


static void
take_elf(object_t *o, const uint8_t *data, size_t len)
{
    static const sym_elf_options_t options = { .unpacked_max = UNPACKED_MAX };
    sym_error_t err = { 0 };
    sym_elf_t *e = sym_elf_open(data, len, &options, &err);

    if (e == NULL) {
        die_of("ELF", &err);
    }

    o->is_64bit = sym_elf_info(e)->is_64bit;
    o->is_big_endian = sym_elf_info(e)->is_big_endian;
    o->image_base = sym_elf_info(e)->image_base;
    take_sections(o, elf_section, e);
}


static sym_macho_t *
open_slice(const uint8_t *data, size_t len, const char *arch)
{
    static const sym_macho_options_t options = { .unpacked_max = UNPACKED_MAX };
    sym_macho_slice_t slices[SYM_MACHO_SLICES_MAX];
    sym_error_t err = { 0 };
    size_t n;

    if (sym_macho_slices(data, len, slices, &n, &err) != SYM_OK) {
        die_of("Mach-O", &err);
    }

    for (size_t i = 0; i < n; i++) {
        sym_macho_t *m = sym_macho_open(data, len, &slices[i], &options, &err);

        if (m == NULL) {
            die_of("Mach-O", &err);
        }

        if (arch == NULL || strcmp(sym_macho_info(m)->arch, arch) == 0) {
            return m;
        }
        sym_macho_close(m);
    }

    object_die("Mach-O", "no slice of that processor");
}


static void
take_macho(object_t *o, const uint8_t *data, size_t len, const char *arch)
{
    sym_macho_t *m = open_slice(data, len, arch);

    o->is_64bit = sym_macho_info(m)->is_64bit;
    o->is_big_endian = sym_macho_info(m)->is_big_endian;
    o->image_base = sym_macho_info(m)->image_base;
    take_sections(o, macho_section, m);
}


static const uint8_t *
map(const char *path, size_t *len)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *data;

    if (fd < 0 || fstat(fd, &st) != 0) {
        object_die(path, "cannot be opened");
    }

    *len = (size_t) st.st_size;
    data = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    (void) close(fd);
    if (data == MAP_FAILED) {
        object_die(path, "cannot be mapped");
    }

    return data;
}


/* --- callbacks of libdwarf --- */

static Dwarf_Small
length_size(void *obj)
{
    (void) obj;
    return 4; /* units that have 8 say so themselves */
}


static Dwarf_Small
pointer_size(void *obj)
{
    const object_t *o = obj;

    return o->is_64bit ? 8 : 4;
}


static Dwarf_Unsigned
section_count(void *obj)
{
    const object_t *o = obj;

    return o->n_sections;
}


static int
load(const object_t *o, Dwarf_Unsigned index, Dwarf_Small **data)
{
    if (index >= o->n_sections) {
        return DW_DLV_NO_ENTRY;
    }

    /* never written to: there are no relocations here */
    *data = (Dwarf_Small *) (uintptr_t) o->sections[index].bytes.data;
    return DW_DLV_OK;
}


#ifdef DW_LIBDWARF_VERSION_MAJOR /* 0.4 and later */

static int
section_info(void *obj, Dwarf_Unsigned index, Dwarf_Obj_Access_Section_a *s,
             int *error)
{
    const object_t *o = obj;

    *error = 0;
    if (index >= o->n_sections) {
        return DW_DLV_NO_ENTRY;
    }

    *s =
        (Dwarf_Obj_Access_Section_a){ .as_name = o->sections[index].name,
                                      .as_size = o->sections[index].bytes.len };
    return DW_DLV_OK;
}


static Dwarf_Small
byte_order(void *obj)
{
    const object_t *o = obj;

    return o->is_big_endian ? DW_END_big : DW_END_little;
}


static Dwarf_Unsigned
file_size(void *obj)
{
    const object_t *o = obj;

    return o->file_size;
}


static int
load_section(void *obj, Dwarf_Unsigned index, Dwarf_Small **data, int *error)
{
    *error = 0;
    return load(obj, index, data);
}


static const Dwarf_Obj_Access_Methods_a methods = {
    .om_get_section_info = section_info,
    .om_get_byte_order = byte_order,
    .om_get_length_size = length_size,
    .om_get_pointer_size = pointer_size,
    .om_get_filesize = file_size,
    .om_get_section_count = section_count,
    .om_load_section = load_section,
};

static Dwarf_Obj_Access_Interface_a access_to = { .ai_methods = &methods };
#define ACCESS_OBJECT access_to.ai_object

#else /* the dates: 20210528 and before */

static int
section_info(void *obj, Dwarf_Half index, Dwarf_Obj_Access_Section *s,
             int *error)
{
    const object_t *o = obj;

    *error = 0;
    if (index >= o->n_sections) {
        return DW_DLV_NO_ENTRY;
    }

    *s = (Dwarf_Obj_Access_Section){ .name = o->sections[index].name,
                                     .size = o->sections[index].bytes.len };
    return DW_DLV_OK;
}


static Dwarf_Endianness
byte_order(void *obj)
{
    const object_t *o = obj;

    return o->is_big_endian ? DW_OBJECT_MSB : DW_OBJECT_LSB;
}


static int
load_section(void *obj, Dwarf_Half index, Dwarf_Small **data, int *error)
{
    *error = 0;
    return load(obj, index, data);
}


static const Dwarf_Obj_Access_Methods methods = {
    .get_section_info = section_info,
    .get_byte_order = byte_order,
    .get_length_size = length_size,
    .get_pointer_size = pointer_size,
    .get_section_count = section_count,
    .load_section = load_section,
};

static Dwarf_Obj_Access_Interface access_to = { .methods = &methods };
#define ACCESS_OBJECT access_to.object

#endif


Dwarf_Debug
object_open(const char *path, const char *arch, uint64_t *image_base)
{
    static object_t o;
    size_t len;
    const uint8_t *data = map(path, &len);
    Dwarf_Debug dbg = NULL;
    Dwarf_Error error = NULL;

    if (sym_macho_is(data, len)) {
        take_macho(&o, data, len, arch);
    } else {
        take_elf(&o, data, len);
    }

    o.file_size = len;
    *image_base = o.image_base;
    ACCESS_OBJECT = &o;
    if (dwarf_object_init_b(&access_to, NULL, NULL, DW_GROUPNUMBER_ANY, &dbg,
                            &error)
        != DW_DLV_OK)
    {
        object_die(path, error != NULL ? dwarf_errmsg(error) : "no DWARF");
    }

    return dbg;
}


void
object_close(Dwarf_Debug dbg)
{
#ifdef DW_LIBDWARF_VERSION_MAJOR
    (void) dwarf_object_finish(dbg);
#else
    Dwarf_Error error = NULL;

    (void) dwarf_object_finish(dbg, &error);
#endif
}
