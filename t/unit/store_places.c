/*
 * Records of all paths in the golden list (source_places.c): when they are
 * known, each object is settled; a path absent for one client is absent for
 * others that have it in common; and when the object is forgotten, no record
 * survives in any spelling.
 */
#include "base/hex.h"
#include "tables_kit.h"

#define GOLDEN "t/golden/places.txt"
#define LINE 4096

typedef struct {
    char line[LINE], head[LINE]; /* the latter in pieces */
    sym_object_ref_t ref;
    char scope[SYM_SCOPE_MAX + 1];
    char text[SYM_PLACES_MAX][LINE];
    sym_str_t paths[SYM_PLACES_MAX];
    unsigned n;
} block_t;

static sym_store_t *w;
static unsigned n_blocks, n_places, n_unsettled, n_open, n_survived;


/* The text in the next brackets. */
static char *
bracketed(char **p)
{
    char *from = strchr(*p, '['), *to = from != NULL ? strchr(from, ']') : NULL;

    if (to == NULL) {
        return *p + strlen(*p);
    }
    *to = '\0';
    *p = to + 1;
    return from + 1;
}


static bool
read_head(block_t *b, const char *line)
{
    char *p, *id, *name;

    (void) snprintf(b->line, sizeof(b->line), "%s", line);
    b->line[strcspn(b->line, "\n")] = '\0';
    memcpy(b->head, b->line, sizeof(b->head));
    p = strstr(b->head, ": ");
    if (p == NULL) {
        return false;
    }

    (void) snprintf(b->scope, sizeof(b->scope), "%.*s", (int) (p - b->head),
                    b->head);
    name = p + 2;
    b->n = 0;
    b->ref = (sym_object_ref_t){ 0 };
    if (strncmp(name, "type ", 5) == 0 && strchr(name, '[') != NULL) {
        b->ref.type = (sym_object_type_t) (name[5] - '0');
        p = name;
        (void) sym_debug_id_read_sentry(sym_cstr(bracketed(&p)),
                                        &b->ref.debug_id);
        (void) sym_code_id_read(sym_cstr(bracketed(&p)), &b->ref.code_id);
        b->ref.debug_file = sym_cstr(bracketed(&p));
        b->ref.code_file = sym_cstr(bracketed(&p));
        return true;
    }

    id = strrchr(name, ' ');
    *id = '\0';
    sym_object_ref_mozilla(&b->ref, sym_cstr(name), sym_cstr(id + 1));
    return true;
}


static void
add_place(block_t *b, const char *encoded)
{
    sym_str_t in = sym_str(encoded, strcspn(encoded, "\n"));
    char *p = b->text[b->n];

    for (size_t i = 0; i < in.len; i++) {
        int byte = sym_hex_percent(in, i);

        *p++ = (char) (byte < 0 ? (uint8_t) in.data[i] : (uint8_t) byte);
        i += byte < 0 ? 0 : 2;
    }
    b->paths[b->n] = sym_str(b->text[b->n], (size_t) (p - b->text[b->n]));
    for (unsigned i = 0; i < b->n; i++) {
        if (sym_str_eq(b->paths[i], b->paths[b->n])) {
            return; /* the list has the path for each type of file */
        }
    }
    b->n++;
}


static sym_settled_t
settle(const block_t *b)
{
    sym_places_t places = { .scope = sym_cstr(b->scope),
                            .paths = b->paths,
                            .n = b->n };
    sym_asking_t asking = { .ref = &b->ref,
                            .kind = SYM_KIND_SYMCACHE,
                            .reader = sym_kinds_reader(),
                            .now_s = INT32_MAX };
    sym_settled_t settled = { .open = UINT64_MAX };
    sym_snapshot_t *s;
    sym_error_t err = { 0 };

    if (sym_snapshot_begin(w, &s, &err) == SYM_OK) {
        (void) sym_snapshot_settle(s, &places, &asking, &settled, &err);
        sym_snapshot_end(s);
    }
    return settled;
}


static void
put_absent(const block_t *b)
{
    sym_path_record_t absent = path_of(SYM_PATH_ABSENT, 0);
    sym_path_ticket_t ticket;
    sym_error_t err = { 0 };

    for (unsigned i = 0; i < b->n; i++) {
        sym_path_key_t key = { .scope = sym_cstr(b->scope),
                               .path = b->paths[i] };

        if (sym_store_put_path(w, &key, &absent, &ticket, &err) != SYM_OK
            || (i + 1 == b->n
                && sym_store_flush_path(w, &ticket, &err) != SYM_OK))
        {
            ok(false, "put %s: %s", b->text[i], err.what);
        }
    }
}


static uint64_t
forget(const sym_object_ref_t *ref)
{
    sym_store_mark_t mark = { .len = 0 };
    sym_error_t err = { 0 };
    uint64_t removed = 0;

    (void) sym_store_forget_part(w, NULL, ref, &mark, UINT64_MAX, &removed,
                                 &err);
    return removed;
}


static void
check(const block_t *b)
{
    uint64_t all = b->n == 64 ? UINT64_MAX : ((uint64_t) 1 << b->n) - 1;
    sym_settled_t settled;

    n_open += settle(b).open != all;
    put_absent(b);
    settled = settle(b);
    n_unsettled += settled.open != 0 || settled.state != SYM_MODULE_ABSENT;

    if (forget(&b->ref) != b->n) {
        printf("# %s: records survive\n", b->line);
        n_survived++;
    }
    n_blocks++;
    n_places += b->n;
}


/* Two clients of one module, from the golden list. */
static block_t current, v5, sentry;

static void
keep(const block_t *b)
{
    static const char code_id[] = "dfb85de42daffd09640c8fe377d572de3e168920";

    if (strcmp(b->scope, "native") == 0
        && sym_str_eq(sym_str(b->ref.code_id.text, b->ref.code_id.len),
                      sym_cstr(code_id)))
    {
        block_t *to = b->ref.is_either ? &v5 : &sentry;

        if (to->n == 0) {
            *to = *b;
            for (unsigned i = 0; i < b->n; i++) {
                to->paths[i].data = to->text[i];
            }
        }
    }
}


static void
test_common(void)
{
    unsigned common = 0, open;

    for (unsigned i = 0; i < v5.n; i++) {
        for (unsigned k = 0; k < sentry.n; k++) {
            common += sym_str_eq(v5.paths[i], sentry.paths[k]);
        }
    }
    put_absent(&v5);
    open = (unsigned) __builtin_popcountll(settle(&sentry).open);
    ok(common > 0 && open == sentry.n - common,
       "v5 and Sentry describe one module: %u common paths get one GET",
       common);

    sentry.ref.code_id.text[0] ^= 1;
    ok((unsigned) __builtin_popcountll(settle(&sentry).open) == open,
       "a client with a wrong code id shares these paths");
    sentry.ref.code_id.text[0] ^= 1;
    ok(forget(&sentry.ref) == v5.n, "and they are forgotten for both");
}


int
main(void)
{
    FILE *golden = fopen(GOLDEN, "r");
    char line[LINE];

    if (golden == NULL) {
        ok(false, "cannot open %s", GOLDEN);
        return done_testing();
    }

    kit_folder();
    w = kit_writer((uint64_t) 16 << 20);
    while (fgets(line, sizeof(line), golden) != NULL) {
        char *path = strrchr(line, ' ');

        if (line[0] == '\n') {
            continue;
        }
        if (strstr(line, ": ") != NULL && strstr(line, " all: ") == NULL) {
            if (current.n != 0) {
                check(&current);
                keep(&current);
            }
            (void) read_head(&current, line);
        } else if (strstr(line, " all: ") == NULL && path != NULL
                   && current.n < SYM_PLACES_MAX)
        {
            add_place(&current, path + 1);
        }
    }
    check(&current);
    (void) fclose(golden);

    ok(n_blocks > 200 && n_places > 500, "%u objects, %u places", n_blocks,
       n_places);
    is_u64(n_open, 0, "before anything is known all paths are open");
    is_u64(n_unsettled, 0, "when all are absent, so is the object");
    is_u64(n_survived, 0, "no record survives in any spelling");
    test_common();
    is_u64(kit_faults(w), 0, "verify");
    sym_store_close(w);
    kit_clean();
    return done_testing();
}
