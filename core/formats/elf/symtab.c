#include "formats/elf/symtab.h"

#include <stdlib.h>

/* Limit on entries.  Chromium, the largest known file, has three million. */
#define CANDIDATES_MAX ((size_t) 1 << 24)
#define CANDIDATES_FIRST ((size_t) 1024)

/* Each descriptor may search all sections.  Files with .opd are linked, so they
 * have some dozens. */
#define OPD_SECTIONS_MAX 256

#define STT_NOTYPE 0
#define STT_OBJECT 1
#define STT_FUNC 2
#define STT_GNU_IFUNC 10

#define SHN_UNDEF 0

/* A symbol table. */
typedef struct {
    const sym_elf_t *e;
    sym_str_t names;              /* ends in NUL, or is empty */
    sym_cursor_t indexes;         /* SHT_SYMTAB_SHNDX, or empty */
    const sym_elf_section_t *opd; /* NULL: functions have no descriptors */
    sym_str_t descriptors;
    bool has_lost_descriptors;          /* another file has the descriptors */
    const sym_elf_section_t *last_code; /* the code section that was found
                                           last */
} table_t;

typedef struct {
    uint32_t name, section;
    uint8_t type;
    uint64_t value, size;
} entry_t;


static bool
is_code_section(const sym_elf_section_t *s)
{
    const uint64_t want = SYM_SHF_ALLOC | SYM_SHF_EXECINSTR;

    return (s->flags & want) == want;
}


static bool
covers(const sym_elf_section_t *s, uint64_t addr)
{
    return addr >= s->addr && addr - s->addr < s->size;
}


/* --- tables --- */

static sym_status_t
names_of(sym_elf_t *e, const sym_elf_section_t *table, const char *name,
         sym_str_t *names, sym_error_t *err)
{
    const char *last;

    if (table->link == 0 || table->link >= e->n_sections
        || e->sections[table->link].type != SYM_SHT_STRTAB)
    {
        return sym_elf_fail(err, SYM_MALFORMED, name, 0,
                            "its string table is missing");
    }

    if (sym_elf_plain(e, &e->sections[table->link], name, names, err) != SYM_OK)
    {
        return err->status;
    }

    /* so that searches for the end of a name need no bound */
    last = memrchr(names->data, '\0', names->len);
    names->len = last == NULL ? 0 : (size_t) (last - names->data) + 1;
    return SYM_OK;
}


/* Numbers of sections above 65,279 are in a separate table. */
static sym_status_t
indexes_of(sym_elf_t *e, const sym_elf_section_t *table, const char *name,
           sym_cursor_t *indexes, sym_error_t *err)
{
    size_t number = (size_t) (table - e->sections);
    sym_str_t bytes = { "", 0 };

    for (size_t i = 1; i < e->n_sections; i++) {
        sym_elf_section_t *s = &e->sections[i];

        if (s->type == SYM_SHT_SYMTAB_SHNDX && s->link == number) {
            (void) sym_elf_plain(e, s, name, &bytes, err);
            break;
        }
    }

    *indexes = sym_elf_cursor(e, bytes, name, err);
    return err->status;
}


/* In 64-bit PowerPC's first ABI, a function's symbol is the address of a
 * descriptor in .opd.  The first word of the descriptor is the address of the
 * code. */
static sym_status_t
find_descriptors(sym_elf_t *e, table_t *t, const char *name, sym_error_t *err)
{
    sym_elf_section_t *s;

    if (e->info.machine != SYM_EM_PPC64) {
        return SYM_OK;
    }

    s = sym_elf_find(e, SYM_STR(".opd"));
    if (s == NULL) {
        for (size_t i = 1; i < e->n_sections; i++) {
            t->has_lost_descriptors =
                t->has_lost_descriptors
                || sym_str_eq(e->sections[i].name, SYM_STR(".opd"));
        }
        return SYM_OK;
    }

    t->opd = s;
    return sym_elf_plain(e, s, name, &t->descriptors, err);
}


/* --- entries --- */

static void
read_entry(const table_t *t, sym_cursor_t *c, entry_t *s)
{
    s->name = sym_u32(c);
    if (!t->e->info.is_64bit) {
        s->value = sym_u32(c);
        s->size = sym_u32(c);
    }
    s->type = sym_u8(c) & 15;
    (void) sym_u8(c); /* st_other */
    s->section = sym_u16(c);
    if (t->e->info.is_64bit) {
        s->value = sym_u64(c);
        s->size = sym_u64(c);
    }
}


static bool
is_function_type(uint8_t type)
{
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}


/* "$a", "$t.1", "$x", "$d": mapping symbols, which describe the bytes and name
 * nothing (ABI of ARM, 5.5.5; also RISC-V and C-SKY). */
static bool
is_mapping_symbol(const table_t *t, const char *name)
{
    switch (t->e->info.machine) {
    case SYM_EM_ARM:
    case SYM_EM_AARCH64:
    case SYM_EM_RISCV:
    case SYM_EM_CSKY:
        return name[0] == '$' && name[1] != '\0'
               && strchr("adtx", name[1]) != NULL;
    default:
        return false;
    }
}


/* The lowest bit of a function's address marks Thumb or microMIPS code. */
static uint64_t
code_address(const table_t *t, const entry_t *s)
{
    bool has_mode_bit =
        t->e->info.machine == SYM_EM_ARM || t->e->info.machine == SYM_EM_MIPS;

    return has_mode_bit && is_function_type(s->type) ? s->value & ~1ull
                                                     : s->value;
}


static const sym_elf_section_t *
code_section_at(table_t *t, uint64_t addr)
{
    const sym_elf_t *e = t->e;

    if (t->last_code != NULL && covers(t->last_code, addr)) {
        return t->last_code;
    }

    for (size_t i = 1; i < e->n_sections && i <= OPD_SECTIONS_MAX; i++) {
        if (is_code_section(&e->sections[i]) && covers(&e->sections[i], addr)) {
            t->last_code = &e->sections[i];
            return t->last_code;
        }
    }

    return NULL;
}


/* The code section that a symbol in .opd refers to.  NULL: it is not code. */
static const sym_elf_section_t *
follow_descriptor(table_t *t, uint64_t *addr)
{
    sym_error_t err = { 0 };
    sym_cursor_t c = sym_elf_cursor(t->e, t->descriptors, ".opd", &err);

    (void) sym_bytes(&c, *addr - t->opd->addr);
    *addr = sym_u64(&c);
    return sym_ok(&c) ? code_section_at(t, *addr) : NULL;
}


/* The section with the code of s; *addr gets the code's address.  NULL: s is
 * not code. */
static const sym_elf_section_t *
code_section_of(table_t *t, const entry_t *s, uint64_t *addr)
{
    const sym_elf_section_t *section = &t->e->sections[s->section];

    *addr = code_address(t, s);

    if (section == t->opd && covers(section, *addr)) {
        return follow_descriptor(t, addr);
    }

    return is_code_section(section) && covers(section, *addr) ? section : NULL;
}


/*
 * A symbol without a size ends at the next one.  The next one is unknown if
 * functions have descriptors in another file: a linker's stub
 * ("0000001b.plt_call.strtol") would cover all functions.
 */
static bool
is_boundless(const table_t *t, const entry_t *s)
{
    return s->size == 0 && t->has_lost_descriptors;
}


/* ".LBB0_1", ".L0 ": local labels of compilers.  Assemblers keep them where a
 * linker may shorten code (RISC-V, LoongArch).  Functions of PowerPC may have
 * such names. */
static bool
is_compiler_label(const entry_t *s, const char *name)
{
    return s->type == STT_NOTYPE && name[0] == '.' && name[1] == 'L';
}


/* Symbols of data in code are needed, too: they end the symbol before them. */
static bool
may_be_code(const entry_t *s)
{
    return s->type == STT_NOTYPE || s->type == STT_OBJECT
           || is_function_type(s->type);
}


static bool
make_candidate(table_t *t, const entry_t *s, sym_elf_candidate_t *made,
               bool *is_bad)
{
    const sym_elf_section_t *section;

    if (!may_be_code(s) || s->section == SHN_UNDEF) {
        return false;
    }

    *is_bad = s->section >= t->e->n_sections || s->name >= t->names.len;
    if (*is_bad) {
        return false;
    }

    section = is_boundless(t, s) ? NULL : code_section_of(t, s, &made->addr);
    made->name = t->names.data + s->name;
    if (section == NULL || made->name[0] == '\0'
        || is_compiler_label(s, made->name)
        || (s->type == STT_NOTYPE && is_mapping_symbol(t, made->name)))
    {
        return false;
    }

    made->end = section->addr + section->size;
    made->has_size = s->size != 0;
    made->is_code = s->type != STT_OBJECT;
    made->is_label = s->type == STT_NOTYPE && !made->has_size;
    if (made->has_size && s->size < made->end - made->addr) {
        made->end = made->addr + s->size;
    }

    return true;
}


static sym_elf_candidate_t *
room_for_one(sym_elf_candidates_t *list, const char *name, sym_error_t *err)
{
    size_t room = list->room == 0 ? CANDIDATES_FIRST : 2 * list->room;
    sym_elf_candidate_t *items;

    if (list->n < list->room) {
        return &list->items[list->n];
    }

    if (list->n == CANDIDATES_MAX) {
        (void) sym_elf_fail(err, SYM_LIMIT, name, 0, "too many symbols");
        return NULL;
    }

    items = realloc(list->items, room * sizeof(*items));
    if (items == NULL) {
        (void) sym_fail(err, SYM_NOMEM, "no memory for symbols");
        return NULL;
    }

    list->items = items;
    list->room = room;
    return &items[list->n];
}


/* Reserved numbers (absolute, common) do not name sections. */
static void
settle_section(table_t *t, entry_t *s)
{
    uint32_t index = sym_left(&t->indexes) < sizeof(index)
                         ? SHN_UNDEF
                         : sym_u32(&t->indexes);

    if (s->section == SYM_SHN_XINDEX) {
        s->section = index;
    } else if (s->section >= SYM_SHN_LORESERVE) {
        s->section = SHN_UNDEF;
    }
}


static sym_status_t
read_entries(table_t *t, sym_cursor_t *c, const char *name,
             sym_elf_candidates_t *list, uint64_t *bad)
{
    size_t entry_bytes = t->e->info.is_64bit ? 24 : 16;

    while (sym_left(c) >= entry_bytes) {
        sym_elf_candidate_t *made = room_for_one(list, name, c->err);
        bool is_bad = false;
        entry_t s = { 0 };

        if (made == NULL) {
            return c->err->status;
        }

        read_entry(t, c, &s);
        settle_section(t, &s);

        if (make_candidate(t, &s, made, &is_bad)) {
            made->order = (uint32_t) list->n++;
        }
        *bad += is_bad;
    }

    return c->err->status;
}


sym_status_t
sym_elf_read_symtab(sym_elf_t *e, sym_elf_section_t *table, const char *name,
                    sym_elf_candidates_t *list, uint64_t *bad, sym_error_t *err)
{
    table_t t = { .e = e };
    sym_str_t bytes;
    sym_cursor_t c;

    if (table->entry_size != (e->info.is_64bit ? 24 : 16)) {
        return sym_elf_fail(err, SYM_MALFORMED, name, 0,
                            "size of an entry is not its class's");
    }

    if (names_of(e, table, name, &t.names, err) != SYM_OK
        || indexes_of(e, table, name, &t.indexes, err) != SYM_OK
        || find_descriptors(e, &t, name, err) != SYM_OK
        || sym_elf_plain(e, table, name, &bytes, err) != SYM_OK)
    {
        return err->status;
    }

    c = sym_elf_cursor(e, bytes, name, err);
    return read_entries(&t, &c, name, list, bad);
}
