/*
 * The golden list of all places: for each layout and each form of an object,
 * the paths that a source is asked for, in their order.  t/golden/places.txt
 * has one line a place: the kinds that ask for it (y symcache, s sources, p
 * ppdb), the file and the path.  It detects unintended changes of paths.
 *
 * To record an intended change: build/unit/source_places.t --write
 */
#include <stdlib.h>

#include "artifacts/kinds.h"
#include "object/object_ref.h"
#include "sources/paths/plan.h"
#include "tap.h"

#define GOLDEN "t/golden/places.txt"

static const char *const files[SYM_SOURCE_FILES] = {
    "elf_debug",  "wasm_debug",  "mach_debug", "breakpad",    "pdb",
    "pdb_packed", "portablepdb", "pe",         "pe_packed",   "elf_code",
    "wasm_code",  "mach_code",   "elf_bundle", "mach_bundle", "named_bundle",
    "uuidmap",    "bcsymbolmap", "il2cpp",     "proguard",
};

typedef struct {
    const char *word, *layout;
    sym_source_ids_t ids;
    sym_source_casing_t casing;
} source_t;

static const source_t sources[] = {
    { "breakpad", "breakpad", SYM_SOURCE_IDS_AS_IS, 0 },
    { "breakpad, ids in upper case", "breakpad", SYM_SOURCE_IDS_UPPER, 0 },
    { "breakpad, lower", "breakpad", 0, SYM_SOURCE_CASING_LOWER },
    { "native", "native", 0, 0 },
    { "debuginfod", "debuginfod", 0, 0 },
    { "symstore", "symstore", 0, 0 },
    { "symstore_index2", "symstore_index2", 0, 0 },
    { "symstore_index2, upper", "symstore_index2", 0, SYM_SOURCE_CASING_UPPER },
    { "ssqp", "ssqp", 0, 0 },
    { "unified", "unified", 0, 0 },
    { "slashsymbols", "slashsymbols", 0, 0 },
};

/* Mozilla's layout: a name, and an id that may be a code id. */
static const char *const named[][2] = {
    { "xul.pdb", "44E4EC8C2F41492B9369D6B9A059577C2" },
    { "xul.pdb", "44e4ec8c2f41492b9369d6b9a059577c02" },
    { "XUL.PDB", "3BAD00012" },
    { "xul.dll", "5D94A2C11a000" },
    { "libxul.so", "44E4EC8C2F41492B9369D6B9A059577C0" },
    { "libxul.so", "44e4ec8c2f41492b9369d6b9a059577c00" },
    { "libxul.so", "44e4ec8c2f41492b9369d6b9a059577c" },
    { "libstdc++.so", "dfb85de42daffd09640c8fe377d572de3e168920" },
    { "libm.so", "00112233445566778899aabbccddeeff00112233445566778899aabb" },
    { "a", "0011223344556677" },
    { "demo.wasm", "67e9247c814e392ba027dbde6748fcbf" },
    { "\xc3\xa9t\xc3\xa9 {1}.dylib", "67E9247C814E392BA027DBDE6748FCBF0" },
};

typedef struct {
    sym_object_type_t type;
    const char *debug_id, *code_id, *debug_file, *code_file;
} whole_t;

static const whole_t wholes[] = {
    { SYM_OBJECT_UNKNOWN, "3249d99d-0c40-4931-8610-f4e4fb0b6936-1",
      "5ab380779000", "crash.pdb", "C:\\crash.exe" },
    { SYM_OBJECT_UNKNOWN, "67e9247c-814e-392b-a027-dbde6748fcbf", "", "crash",
      "" },
    { SYM_OBJECT_ELF, "e45db8df-af2d-09fd-640c-8fe377d572de",
      "dfb85de42daffd09640c8fe377d572de3e168920", "/lib/libm-2.23.so",
      "/lib/libm-2.23.so" },
    { SYM_OBJECT_ELF, "e45db8df-af2d-09fd-640c-8fe377d572de", "", "libm.so",
      "" },
    { SYM_OBJECT_ELF, "", "dfb85de42daffd09640c8fe377d572de3e168920", "", "" },
    { SYM_OBJECT_MACHO, "67e9247c-814e-392b-a027-dbde6748fcbf", "", "crash",
      "/a/crash" },
    { SYM_OBJECT_MACHO, "67e9247c-814e-392b-a027-dbde6748fcbf",
      "11112222333344445555666677778888", "", "/a/crash" },
    { SYM_OBJECT_PE, "3249d99d-0c40-4931-8610-f4e4fb0b6936-ab", "5ab38077A000",
      "C:\\a\\crash.pdb", "C:\\b\\CRASH.exe" },
    { SYM_OBJECT_PE, "3bad0001-2", "", "old.PDB", "" },
    { SYM_OBJECT_PE, "", "5ab380779000", "", "crash.exe" },
    { SYM_OBJECT_PE_DOTNET, "0c1033f7-8632-492e-91c6-c314b72e1920-e60b819d", "",
      "integration.pdb", "" },
    { SYM_OBJECT_WASM, "67e9247c-814e-392b-a027-dbde6748fcbf",
      "67e9247c814e392ba027dbde6748fcbf", "file://foo.invalid/demo.wasm", "" },
    { SYM_OBJECT_WASM, "67e9247c-814e-392b-a027-dbde6748fcbf", "", "demo.wasm",
      "demo.wasm" },
};

static const sym_kind_t kinds[] = { SYM_KIND_SYMCACHE, SYM_KIND_SOURCES,
                                    SYM_KIND_PPDB };
static const char letters[] = "ysp";

#define KINDS 3

typedef struct {
    sym_source_file_t file;
    char path[SYM_SOURCE_ENCODED_MAX + 1];
} place_t;

typedef struct {
    place_t at[SYM_PLAN_MAX];
    unsigned n;
} list_t;

static char *text;
static size_t text_len;
static FILE *out;


static sym_source_rules_t
rules_of(const source_t *s)
{
    sym_source_rules_t rules = { .ids = s->ids, .casing = s->casing };

    (void) sym_layout_find(sym_cstr(s->layout), &rules.layout);
    rules.files = sym_layout_files(rules.layout);
    return rules;
}


static void
ask(const source_t *s, const sym_object_ref_t *ref, sym_kind_t kind,
    sym_file_order_t order, list_t *list)
{
    const sym_source_rules_t rules = rules_of(s);
    char encoded[SYM_SOURCE_ENCODED_MAX];
    sym_source_plan_t plan;
    sym_arena_t arena;

    sym_arena_init(&arena, 0);
    if (sym_source_plan(&arena, ref, &rules, sym_kind_files(kind, ref->type),
                        order, &plan)
        != SYM_OK)
    {
        ok(false, "no memory");
        plan.n = 0;
    }

    list->n = plan.n;
    for (unsigned i = 0; i < plan.n; i++) {
        sym_str_t path = sym_source_encode(plan.at[i].path, encoded);

        list->at[i].file = plan.at[i].file;
        (void) snprintf(list->at[i].path, sizeof(list->at[i].path), "%.*s",
                        (int) path.len, path.data);
    }

    sym_arena_drop(&arena);
}


static void
ask_named(const source_t *s, const char *const name[2], sym_kind_t kind,
          list_t *list)
{
    sym_object_ref_t ref;

    sym_object_ref_mozilla(&ref, sym_cstr(name[0]), sym_cstr(name[1]));
    ask(s, &ref, kind, SYM_DEBUG_FILES_FIRST, list);
}


static void
ask_whole(const source_t *s, const whole_t *w, sym_kind_t kind,
          sym_file_order_t order, list_t *list)
{
    sym_object_ref_t ref = { .type = w->type,
                             .debug_file = sym_cstr(w->debug_file),
                             .code_file = sym_cstr(w->code_file) };

    (void) sym_debug_id_read_sentry(sym_cstr(w->debug_id), &ref.debug_id);
    (void) sym_code_id_read(sym_cstr(w->code_id), &ref.code_id);
    ask(s, &ref, kind, order, list);
}


static bool
has(const list_t *list, const place_t *place)
{
    for (unsigned i = 0; i < list->n; i++) {
        if (list->at[i].file == place->file
            && strcmp(list->at[i].path, place->path) == 0)
        {
            return true;
        }
    }

    return false;
}


/* The lists of all kinds merged into one, which keeps the order of each. */
static void
write_lists(const list_t lists[KINDS])
{
    unsigned next[KINDS] = { 0 };

    for (;;) {
        const place_t *first = NULL;

        /* the next entry of a list, if no other list has it later */
        for (unsigned k = 0; k < KINDS && first == NULL; k++) {
            bool is_next = next[k] < lists[k].n;

            for (unsigned i = 0; i < KINDS && is_next; i++) {
                const place_t *p = &lists[k].at[next[k]];

                is_next = next[i] == lists[i].n || !has(&lists[i], p)
                          || strcmp(lists[i].at[next[i]].path, p->path) == 0;
            }
            first = is_next ? &lists[k].at[next[k]] : NULL;
        }

        if (first == NULL) {
            break;
        }

        for (unsigned k = 0; k < KINDS; k++) {
            bool is_in = next[k] < lists[k].n
                         && lists[k].at[next[k]].file == first->file
                         && strcmp(lists[k].at[next[k]].path, first->path) == 0;

            (void) fputc(is_in ? letters[k] : '-', out);
            next[k] += is_in;
        }
        (void) fprintf(out, " %s %s\n", files[first->file], first->path);
    }

    for (unsigned k = 0; k < KINDS; k++) {
        if (next[k] != lists[k].n) {
            (void) fprintf(out, "two orders\n");
        }
    }
}


static void
write_order(const list_t lists[KINDS])
{
    for (unsigned k = 0; k < KINDS; k++) {
        if (lists[k].n > 1) {
            (void) fprintf(out, "%c all:", letters[k]);
            for (unsigned i = 0; i < lists[k].n; i++) {
                (void) fprintf(out, " %s", files[lists[k].at[i].file]);
            }
            (void) fprintf(out, "\n");
        }
    }
}


static void
write_source(const source_t *s)
{
    static list_t lists[KINDS];

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        (void) fprintf(out, "\n%s: %s %s\n", s->word, named[i][0], named[i][1]);
        for (unsigned k = 0; k < KINDS; k++) {
            ask_named(s, named[i], kinds[k], &lists[k]);
        }
        write_lists(lists);
    }

    for (size_t i = 0; i < sizeof(wholes) / sizeof(wholes[0]); i++) {
        const whole_t *w = &wholes[i];

        (void) fprintf(out, "\n%s: type %d [%s] [%s] [%s] [%s]\n", s->word,
                       (int) w->type, w->debug_id, w->code_id, w->debug_file,
                       w->code_file);
        for (unsigned k = 0; k < KINDS; k++) {
            ask_whole(s, w, kinds[k], SYM_DEBUG_FILES_FIRST, &lists[k]);
        }
        write_lists(lists);
        for (unsigned k = 0; k < KINDS; k++) {
            ask_whole(s, w, kinds[k], SYM_CODE_FILES_FIRST, &lists[k]);
        }
        write_order(lists);
    }
}


/* Compares line by line; shows the first difference. */
static void
compare(FILE *golden)
{
    char want[SYM_SOURCE_ENCODED_MAX + 64],
        head[SYM_SOURCE_ENCODED_MAX + 64] = "";
    const char *p = text;
    unsigned line = 0;

    while (fgets(want, sizeof(want), golden) != NULL) {
        size_t len = strlen(want);

        line++;
        if (strncmp(p, want, len) != 0) {
            printf("# below %s# want %s# got %.*s\n", head, want,
                   (int) strcspn(p, "\n"), p);
            ok(false, "line %u", line);
            return;
        }

        if (strstr(want, ": ") != NULL) {
            memcpy(head, want, len + 1);
        }
        p += len;
    }

    ok(line > 500 && *p == '\0', "%u lines of places", line);
}


int
main(int argc, char **argv)
{
    bool is_write = argc == 2 && strcmp(argv[1], "--write") == 0;
    FILE *golden = fopen(GOLDEN, is_write ? "w" : "r");

    out = open_memstream(&text, &text_len);
    if (out == NULL || golden == NULL) {
        ok(false, "cannot open %s", GOLDEN);
        return done_testing();
    }

    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        write_source(&sources[i]);
    }

    (void) fclose(out);
    if (is_write) {
        (void) fputs(text, golden);
    } else {
        compare(golden);
    }

    (void) fclose(golden);
    free(text);
    return done_testing();
}
