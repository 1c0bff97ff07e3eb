/*
 * Indexes of symstores: entries as Symbolicator reads them, text in parts, and
 * limits.
 */
#include "sources/paths/index.h"
#include "tap.h"

static sym_source_index_t index_;

static bool
has_of(const sym_source_index_t *index, const char *path)
{
    return sym_source_index_has(index, sym_cstr(path));
}


static bool
has(const char *path)
{
    return has_of(&index_, path);
}


static sym_status_t
add(sym_source_index_t *index, sym_str_t part)
{
    size_t taken;

    return sym_source_index_feed(index, part, &taken);
}


static void
feed(const char *text, size_t step)
{
    for (size_t at = 0, len = strlen(text); at < len; at += step) {
        (void) add(&index_,
                   sym_str(text + at, at + step < len ? step : len - at));
    }
    (void) sym_source_index_end(&index_);
}


static void
test_last(const char *text, bool want, unsigned number)
{
    unsigned n = 77;

    ok(sym_source_index_last(sym_cstr(text), &n) == want
           && n == (want ? number : 77),
       "last number '%s'", text);
}


/* Adds entries until the index is full. */
static unsigned
fill(sym_source_index_t *index, sym_source_index_room_t *room)
{
    char line[64];
    unsigned n = 0;

    sym_source_index_begin(index, 1 << 20, room);
    do {
        (void) snprintf(line, sizeof(line), "\"f%u.dll\\%u\",\n", n, n);
        n++;
    } while (n < 100000 && add(index, sym_cstr(line)) == SYM_OK);

    return n - 1;
}


static void
test_room(void)
{
    sym_source_index_room_t room = { .max_bytes = 40960 };
    static sym_source_index_t a, b, c;

    is_u64(fill(&a, &room), 1536, "three quarters of all room: 24 of 30 KiB");
    is_u64(fill(&b, &room), 512, "... of the room that is left: 8 of 12");
    is_u64(fill(&c, &room), 0, "... and nothing if that is less than a table");
    is_u64(room.bytes, 32768, "their memory is counted");
    sym_source_index_free(&a);
    sym_source_index_free(&c);
    is_u64(fill(&c, &room), 1536, "a dropped index returns its room");
    ok(has_of(&b, "f0.dll/0/f0.dll") && sym_source_index_end(&b) == SYM_FULL,
       "a full one keeps its line");
    sym_source_index_free(&c);
    ok(sym_source_index_end(&b) == SYM_OK
           && has_of(&b, "f512.dll/512/f512.dll"),
       "... and adds it when there is room");
    sym_source_index_free(&b);
    is_u64(room.bytes, 0, "... to the last byte");
}


int
main(void)
{
    static const char text[] =
        "\"difx64.dll\\4549B50183000\",\"D:\\\\DllServers\\\\difx64.dll\"\r\n"
        "no entry\n\"none\"\n\n"
        "\"a.pdb\\0C1033F78632492E91C6C314B72E19201\",\"x\"";
    char line[64];
    sym_status_t rc = SYM_OK;

    for (size_t step = 1; step < sizeof(text); step += 7) {
        sym_source_index_begin(&index_, 1 << 20, NULL);
        ok(!has("difx64.dll/4549B50183000/difx64.dll"),
           "nothing is in an empty one");
        feed(text, step);
        is_u64(index_.n, 2, "entries");
        ok(has("difx64.dll/4549B50183000/difx64.dll"), "in parts of %zu", step);
        ok(has("a.pdb/0C1033F78632492E91C6C314B72E19201/a.pdb"),
           "... the last line too");
        ok(!has("a.pdb/0C1033F78632492E91C6C314B72E19202/a.pdb"),
           "... another id");
        ok(!has("difx64.dll/4549B50183000/difx64.dl_"), "... another name");
        ok(!has("difx64.dll/4549b50183000/difx64.dll"), "... another case");
        ok(!has("difx64.dll") && !has("") && !has("/") && !has("a/b"),
           "... no path");
        sym_source_index_free(&index_);
    }

    /* tables of 1,024 and 2,048 slots, half of which may be used */
    sym_source_index_begin(&index_, 24576, NULL);
    for (unsigned i = 0; i < 5000 && rc == SYM_OK; i++) {
        (void) snprintf(line, sizeof(line), "\"f%u.dll\\%u\",\n", i, i);
        rc = add(&index_, sym_cstr(line));
    }
    ok(rc == SYM_LIMIT && index_.n == 1536, "more than its tables may hold");
    ok(has("f0.dll/0/f0.dll") && has("f1535.dll/1535/f1535.dll")
           && !has("f1536.dll/1536/f1536.dll"),
       "... the others are there");
    sym_source_index_free(&index_);
    test_room();

    test_last("0000000021\r\n", true, 21);
    test_last("10000", true, 10000);
    test_last("10001", false, 0);
    test_last("", false, 0);
    test_last("-1", false, 0);
    test_last("12x", false, 0);
    test_last("0000000000000000001", false, 0);
    return done_testing();
}
