/*
 * read - prints the functions and lines that libdwarf finds in a debug file,
 * for t/dwarf_libdwarf.t.
 *
 *     read FILE [ARCH]
 *
 * prints lines of fields with a TAB between; addresses are hexadecimal and as
 * in the file:
 *
 *     libdwarf VERSION
 *     base ADDR                            of the image
 *     unit OFFSET VERSION LINE_VERSION     followed by its contents:
 *     function OFFSET NAME LOW HIGH ...    a function with code, and its ranges
 *     file NUMBER PATH                     from the line table's own list
 *     row ADDR KIND LINE FILE_NUMBER PATH  KIND: "statement", "other", or "end"
 *                                          after a sequence's last byte
 *     error WHERE TEXT                     what libdwarf could not read
 *
 * Each code that libdwarf returns is checked: an error ends its list, never
 * silently.  libdwarf's memory is freed with the file, which keeps this program
 * short.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "object.h"

/* References from a function to its name. */
#define CHAIN_MAX 16

typedef struct {
    Dwarf_Debug dbg;
    Dwarf_Off offset; /* of the current entry */
    Dwarf_Half version;
    uint64_t n_ranges;
} reader_t;


/* True for DW_DLV_OK; errors are printed. */
static bool
is_ok(reader_t *r, int rc, Dwarf_Error *error, const char *what)
{
    if (rc == DW_DLV_ERROR) {
        (void) printf("error\t%s at %" PRIx64 "\t%s\n", what,
                      (uint64_t) r->offset, dwarf_errmsg(*error));
        dwarf_dealloc_error(r->dbg, *error);
        *error = NULL;
    }

    return rc == DW_DLV_OK;
}


static bool
attribute(reader_t *r, Dwarf_Die die, Dwarf_Half which, Dwarf_Attribute *attr)
{
    Dwarf_Error error = NULL;

    return is_ok(r, dwarf_attr(die, which, attr, &error), &error, "attribute");
}


/* --- names --- */

static const char *
text_of(reader_t *r, Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attr;
    char *text;

    if (!attribute(r, die, which, &attr)
        || !is_ok(r, dwarf_formstring(attr, &text, &error), &error, "text"))
    {
        return NULL;
    }

    return text;
}


/* The entry that an attribute refers to.  References to types have no name that
 * is needed here. */
static bool
follow(reader_t *r, Dwarf_Die die, Dwarf_Half which, Dwarf_Die *next)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attr;
    Dwarf_Half form;
    Dwarf_Off offset;

    if (!attribute(r, die, which, &attr)
        || !is_ok(r, dwarf_whatform(attr, &form, &error), &error, "form")
        || form == DW_FORM_ref_sig8)
    {
        return false;
    }

    return is_ok(r, dwarf_global_formref(attr, &offset, &error), &error,
                 "reference")
           && is_ok(r, dwarf_offdie_b(r->dbg, offset, true, next, &error),
                    &error, "entry referred to");
}


/* The first linkage name on the way to the declaration, else the first plain
 * one. */
static const char *
name_of(reader_t *r, Dwarf_Die die)
{
    const char *plain = NULL;

    for (unsigned i = 0; i < CHAIN_MAX; i++) {
        const char *linkage = text_of(r, die, DW_AT_linkage_name);

        if (linkage == NULL) {
            linkage = text_of(r, die, DW_AT_MIPS_linkage_name);
        }

        if (linkage != NULL) {
            return linkage;
        }

        if (plain == NULL) {
            plain = text_of(r, die, DW_AT_name);
        }

        if (!follow(r, die, DW_AT_abstract_origin, &die)
            && !follow(r, die, DW_AT_specification, &die))
        {
            break;
        }
    }

    return plain != NULL ? plain : "";
}


/* --- ranges --- */

static void
print_range(reader_t *r, uint64_t low, uint64_t high)
{
    if (low < high) {
        (void) printf("\t%" PRIx64 "\t%" PRIx64, low, high);
        r->n_ranges++;
    }
}


/* The offset of a list: DWARF 2 and 3 write it as a plain number. */
static bool
list_offset(reader_t *r, Dwarf_Attribute attr, Dwarf_Half form,
            Dwarf_Unsigned *offset)
{
    Dwarf_Error error = NULL;
    Dwarf_Off global;

    if (form == DW_FORM_sec_offset) {
        if (!is_ok(r, dwarf_global_formref(attr, &global, &error), &error,
                   "offset of ranges"))
        {
            return false;
        }
        *offset = global;
        return true;
    }

    return is_ok(r, dwarf_formudata(attr, offset, &error), &error,
                 "index of ranges");
}


static void
print_old_list(reader_t *r, Dwarf_Die die, Dwarf_Unsigned offset, uint64_t base)
{
    Dwarf_Error error = NULL;
    Dwarf_Ranges *list;
    Dwarf_Signed n;
    Dwarf_Unsigned bytes;
    Dwarf_Off real;

    if (!is_ok(r,
               dwarf_get_ranges_b(r->dbg, offset, die, &real, &list, &n, &bytes,
                                  &error),
               &error, "ranges"))
    {
        return;
    }

    for (Dwarf_Signed i = 0; i < n; i++) {
        if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION) {
            base = list[i].dwr_addr2;
        } else if (list[i].dwr_type == DW_RANGES_ENTRY) {
            print_range(r, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
        }
    }
}


static void
print_new_list(reader_t *r, Dwarf_Attribute attr, Dwarf_Half form,
               Dwarf_Unsigned index)
{
    Dwarf_Error error = NULL;
    Dwarf_Rnglists_Head head;
    Dwarf_Unsigned n, at, raw1, raw2, low, high;
    Dwarf_Bool no_addr;
    unsigned len, code;

    if (!is_ok(r,
               dwarf_rnglists_get_rle_head(attr, form, index, &head, &n, &at,
                                           &error),
               &error, "ranges"))
    {
        return;
    }

    for (Dwarf_Unsigned i = 0; i < n; i++) {
        if (!is_ok(r,
                   dwarf_get_rnglists_entry_fields_a(head, i, &len, &code,
                                                     &raw1, &raw2, &no_addr,
                                                     &low, &high, &error),
                   &error, "range"))
        {
            return;
        }

        if (code != DW_RLE_end_of_list && code != DW_RLE_base_address
            && code != DW_RLE_base_addressx)
        {
            print_range(r, low, high);
        }
    }
}


static void
print_ranges(reader_t *r, Dwarf_Die die, uint64_t base)
{
    Dwarf_Error error = NULL;
    Dwarf_Attribute attr;
    Dwarf_Half form;
    Dwarf_Unsigned offset;

    if (!attribute(r, die, DW_AT_ranges, &attr)
        || !is_ok(r, dwarf_whatform(attr, &form, &error), &error, "form")
        || !list_offset(r, attr, form, &offset))
    {
        return;
    }

    if (r->version >= 5) {
        print_new_list(r, attr, form, offset);
    } else {
        print_old_list(r, die, offset, base);
    }
}


static void
print_low_high(reader_t *r, Dwarf_Die die, Dwarf_Addr low)
{
    Dwarf_Error error = NULL;
    enum Dwarf_Form_Class kind = DW_FORM_CLASS_UNKNOWN;
    Dwarf_Addr high;
    Dwarf_Half form;

    if (is_ok(r, dwarf_highpc_b(die, &high, &form, &kind, &error), &error,
              "high_pc"))
    {
        print_range(r, low, kind == DW_FORM_CLASS_CONSTANT ? low + high : high);
    }
}


/* --- entries --- */

/* 0: the entry has none. */
static Dwarf_Addr
low_pc(reader_t *r, Dwarf_Die die, bool *has)
{
    Dwarf_Error error = NULL;
    Dwarf_Addr low = 0;

    *has = is_ok(r, dwarf_lowpc(die, &low, &error), &error, "low_pc");
    return *has ? low : 0;
}


static bool
has_attribute(reader_t *r, Dwarf_Die die, Dwarf_Half which)
{
    Dwarf_Error error = NULL;
    Dwarf_Bool has = false;

    return is_ok(r, dwarf_hasattr(die, which, &has, &error), &error,
                 "attributes")
           && has;
}


static void
print_function(reader_t *r, Dwarf_Die die, uint64_t base)
{
    bool has_ranges = has_attribute(r, die, DW_AT_ranges);
    bool has_low = has_attribute(r, die, DW_AT_high_pc);
    Dwarf_Addr low = has_low ? low_pc(r, die, &has_low) : 0;

    if (!has_ranges && !has_low) {
        return;
    }

    (void) printf("function\t%" PRIx64 "\t%s", (uint64_t) r->offset,
                  name_of(r, die));
    if (has_ranges) {
        print_ranges(r, die, base);
    } else {
        print_low_high(r, die, low);
    }
    (void) printf("\n");
}


/* The entry, its children, and its siblings. */
static void
walk(reader_t *r, Dwarf_Die die, uint64_t base)
{
    Dwarf_Error error = NULL;
    Dwarf_Die child, next;
    Dwarf_Half tag;
    int rc;

    for (;;) {
        if (!is_ok(r, dwarf_dieoffset(die, &r->offset, &error), &error, "entry")
            || !is_ok(r, dwarf_tag(die, &tag, &error), &error, "tag"))
        {
            return;
        }

        if (tag == DW_TAG_subprogram) {
            print_function(r, die, base);
        }

        if (is_ok(r, dwarf_child(die, &child, &error), &error, "child")) {
            walk(r, child, base);
        }

        rc = dwarf_siblingof_b(r->dbg, die, true, &next, &error);
        dwarf_dealloc(r->dbg, die, DW_DLA_DIE);
        if (!is_ok(r, rc, &error, "sibling")) {
            return;
        }
        die = next;
    }
}


/* --- lines --- */

/* dwarf_lineendsequence() is also true at the beginning of an epilogue
 * (libdwarf up to 0.11), which clang marks from version 19 on.  No compiler
 * marks an end that way. */
static bool
ends_sequence(reader_t *r, Dwarf_Line line, Dwarf_Bool *is_end)
{
    Dwarf_Error error = NULL;
    Dwarf_Bool is_prologue_end, is_epilogue;
    Dwarf_Unsigned isa, discriminator;

    if (!is_ok(r, dwarf_lineendsequence(line, is_end, &error), &error, "row")
        || !is_ok(r,
                  dwarf_prologue_end_etc(line, &is_prologue_end, &is_epilogue,
                                         &isa, &discriminator, &error),
                  &error, "row"))
    {
        return false;
    }

    *is_end = *is_end && !is_epilogue;
    return true;
}


static void
print_row(reader_t *r, Dwarf_Line line)
{
    Dwarf_Error error = NULL;
    Dwarf_Addr addr;
    Dwarf_Bool is_end, is_statement;
    Dwarf_Unsigned number, file;
    char *path = NULL;

    if (!is_ok(r, dwarf_lineaddr(line, &addr, &error), &error, "row")
        || !ends_sequence(r, line, &is_end)
        || !is_ok(r, dwarf_linebeginstatement(line, &is_statement, &error),
                  &error, "row")
        || !is_ok(r, dwarf_lineno(line, &number, &error), &error, "row")
        || !is_ok(r, dwarf_line_srcfileno(line, &file, &error), &error, "row"))
    {
        return;
    }

    if (!is_end
        && !is_ok(r, dwarf_linesrc(line, &path, &error), &error,
                  "path of a row"))
    {
        path = NULL;
    }

    (void) printf("row\t%" PRIx64 "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
                  (uint64_t) addr,
                  is_end         ? "end"
                  : is_statement ? "statement"
                                 : "other",
                  (uint64_t) number, (uint64_t) file, path != NULL ? path : "");
}


static void
print_files(reader_t *r, Dwarf_Line_Context context)
{
    Dwarf_Error error = NULL;
    Dwarf_Signed first, count, end;

    if (!is_ok(
            r,
            dwarf_srclines_files_indexes(context, &first, &count, &end, &error),
            &error, "files"))
    {
        return;
    }

    for (Dwarf_Signed i = first; i < end; i++) {
        const char *name;
        Dwarf_Unsigned folder, time, size;
        Dwarf_Form_Data16 *md5;

        if (is_ok(r,
                  dwarf_srclines_files_data_b(context, i, &name, &folder, &time,
                                              &size, &md5, &error),
                  &error, "file"))
        {
            (void) printf("file\t%" PRId64 "\t%s\n", (int64_t) i, name);
        }
    }
}


/* The unit's table of lines; 0 if it has none. */
static Dwarf_Line_Context
line_table(reader_t *r, Dwarf_Die unit, Dwarf_Unsigned *version)
{
    Dwarf_Error error = NULL;
    Dwarf_Line_Context context = NULL;
    Dwarf_Small n_tables;

    *version = 0;
    if (!has_attribute(r, unit, DW_AT_stmt_list)
        || !is_ok(r,
                  dwarf_srclines_b(unit, version, &n_tables, &context, &error),
                  &error, "line table"))
    {
        return NULL;
    }

    return context;
}


static void
print_lines(reader_t *r, Dwarf_Line_Context context)
{
    Dwarf_Error error = NULL;
    Dwarf_Line *lines;
    Dwarf_Signed n;

    print_files(r, context);
    if (!is_ok(r, dwarf_srclines_from_linecontext(context, &lines, &n, &error),
               &error, "rows"))
    {
        return;
    }

    for (Dwarf_Signed i = 0; i < n; i++) {
        print_row(r, lines[i]);
    }
}


/* --- units --- */

static void
print_unit(reader_t *r)
{
    Dwarf_Error error = NULL;
    Dwarf_Die unit;
    Dwarf_Line_Context context;
    Dwarf_Unsigned line_version;
    uint64_t base;
    bool has_base;

    if (!is_ok(r, dwarf_siblingof_b(r->dbg, NULL, true, &unit, &error), &error,
               "unit")
        || !is_ok(r, dwarf_dieoffset(unit, &r->offset, &error), &error, "unit"))
    {
        return;
    }

    context = line_table(r, unit, &line_version);
    base = low_pc(r, unit, &has_base);
    (void) printf("unit\t%" PRIx64 "\t%u\t%" PRIu64 "\n", (uint64_t) r->offset,
                  (unsigned) r->version, (uint64_t) line_version);
    if (context != NULL) {
        print_lines(r, context);
    }
    walk(r, unit, base);
}


int
main(int argc, char **argv)
{
    reader_t r = { 0 };
    Dwarf_Error error = NULL;
    uint64_t base;

    if (argc < 2) {
        object_die("usage", "read FILE [ARCH]");
    }

    r.dbg = object_open(argv[1], argv[2], &base);
    (void) printf("libdwarf\t%s\nbase\t%" PRIx64 "\n", dwarf_package_version(),
                  base);

    for (;;) {
        Dwarf_Unsigned len, type_offset, next;
        Dwarf_Off abbrevs;
        Dwarf_Half addr_size, offset_size, extension, kind;
        Dwarf_Sig8 signature;

        if (!is_ok(&r,
                   dwarf_next_cu_header_d(r.dbg, true, &len, &r.version,
                                          &abbrevs, &addr_size, &offset_size,
                                          &extension, &signature, &type_offset,
                                          &next, &kind, &error),
                   &error, "list of units"))
        {
            break;
        }
        print_unit(&r);
    }

    object_close(r.dbg);
    return fflush(stdout) == 0 ? 0 : 1;
}
