/*
 * The index of a .dwp: which part of each section belongs to a unit, in both
 * versions and byte orders; and invalid indexes.
 */
#include "dwarf_kit.h"
#include "tap.h"

#define ID UINT64_C(0x1122334455667788)

/* A package of two units; the second is ID's, found in the second slot. */
typedef struct {
    kit_t kit;
    kit_bytes_t index;
    unsigned slots_at, rows_at, offsets_at, sizes_at;
} package_t;

static void
make(package_t *p, unsigned version, bool is_big)
{
    static const uint32_t offsets[2][3] = { { 0, 0, 0 }, { 4, 2, 8 } };
    static const uint32_t sizes[2][3] = { { 4, 2, 8 }, { 6, 3, 4 } };
    static const unsigned columns[] = { 1, 3, 6 };
    kit_bytes_t *b = &p->index;

    memset(p, 0, sizeof(*p));
    p->kit.is_big = is_big;
    put(&p->kit, b, version, version == 5 ? 2 : 4);
    put(&p->kit, b, 0, version == 5 ? 2 : 0);
    put(&p->kit, b, 3, 4);
    put(&p->kit, b, 2, 4);
    put(&p->kit, b, 4, 4);

    /* 7.3.5.3: slot 0 (the low bits), which is taken, then the next */
    p->slots_at = (unsigned) b->n;
    for (unsigned i = 0; i < 4; i++) {
        put(&p->kit, b, i == 0 ? ID + 8 : i == 1 ? ID : 0, 8);
    }

    p->rows_at = (unsigned) b->n;
    put(&p->kit, b, 1, 4);
    put(&p->kit, b, 2, 4);
    put(&p->kit, b, 0, 8);
    for (unsigned i = 0; i < 3; i++) {
        put(&p->kit, b, columns[i], 4);
    }

    p->offsets_at = (unsigned) b->n;
    for (unsigned i = 0; i < 6; i++) {
        put(&p->kit, b, offsets[i / 3][i % 3], 4);
    }

    p->sizes_at = (unsigned) b->n;
    for (unsigned i = 0; i < 6; i++) {
        put(&p->kit, b, sizes[i / 3][i % 3], 4);
    }
}


static bool
find(const package_t *p, size_t len, uint64_t id, sym_dwarf_sections_t *unit)
{
    const sym_dwarf_sections_t all = { .info = SYM_STR("aaaaBBBBBB"),
                                       .abbrev = SYM_STR("aaBBB"),
                                       .str = SYM_STR("shared"),
                                       .str_offsets = SYM_STR("aaaaaaaaBBBB"),
                                       .rnglists = SYM_STR("none") };

    return sym_dwarf_package_find(&all,
                                  sym_str((const char *) p->index.data, len),
                                  p->kit.is_big, id, unit);
}


/* Sets a value of the index to v; the index must then be refused. */
static void
refuses(unsigned at, unsigned size, uint64_t v, const char *what)
{
    sym_dwarf_sections_t unit;
    package_t p;
    size_t len;

    make(&p, 5, false);
    len = p.index.n;
    p.index.n = at;
    put(&p.kit, &p.index, v, size);
    ok(!find(&p, len, ID, &unit), "%s", what);
}


int
main(void)
{
    sym_dwarf_sections_t unit;
    package_t p;

    for (unsigned i = 0; i < 4; i++) {
        make(&p, i & 1 ? 5 : 2, (i & 2) != 0);
        ok(find(&p, p.index.n, ID, &unit), "version and order %u", i);
        is_str(unit.info, "BBBBBB", "its entries");
        is_str(unit.abbrev, "BBB", "its abbreviations");
        is_str(unit.str_offsets, "BBBB", "its string offsets");
        is_str(unit.str, "shared", "the strings, shared by all units");
        is_u64(unit.rnglists.len, 0, "no ranges: no column for them");
        ok(!find(&p, p.index.n, ID + 1, &unit), "a unit that does not exist");
    }

    for (size_t len = 0; len < p.index.n; len++) {
        if (find(&p, len, ID, &unit)) {
            ok(false, "cut after %zu bytes", len);
        }
    }

    make(&p, 5, false);
    refuses(0, 2, 4, "another version");
    refuses(12, 4, 3, "number of slots: not a power of two");
    refuses(12, 4, 0, "no slots");
    refuses(8, 4, UINT32_MAX, "more units than bytes");
    refuses(4, 4, UINT32_MAX, "more columns than bytes");
    refuses(p.rows_at + 4, 4, 3, "a row that does not exist");
    refuses(p.offsets_at + 12, 4, 5, "a part past the end of its section");
    refuses(p.offsets_at + 12, 4, UINT32_MAX, "an offset past the end");
    refuses(p.sizes_at + 12, 4, 7, "a part longer than its section");
    return done_testing();
}
