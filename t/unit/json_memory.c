/*
 * A JSON text is refused if memory for its tree runs out, at any allocation.
 * jansson does not check whether it got memory for a string that it is reading.
 */
#include <stdlib.h>

#include "json/load.h"
#include "tap.h"

#define MEMORY ((size_t) 1 << 20)
#define LONG ((size_t) 3 << 20)

static char *text;
static size_t len;


static void
add(const char *part)
{
    while (*part != '\0') {
        text[len++] = *part++;
    }
}


static void
is_refused(char c, const char *head, const char *tail)
{
    sym_json_t json;
    sym_error_t err = { 0 };

    len = 0;
    add(head);
    memset(text + len, c, LONG);
    len += LONG;
    add(tail);

    ok(sym_json_load(&json, sym_str(text, len), MEMORY, 0, "no JSON", &err)
           == SYM_LIMIT,
       "refused: %s%c%c...%s", head, c, c, tail);
    ok(json.root == NULL, "... no tree");
    sym_json_drop(&json);
}


/* The members before the string decide how much memory is left. */
static void
test_lengths(void)
{
    static const char number[] = "1234567890,";
    unsigned refused = 0;
    sym_json_t json;

    for (size_t n = 1000; n < 30000; n += 1000) {
        sym_error_t err = { 0 };

        len = 0;
        add("[");
        for (size_t i = 0; i < n; i++) {
            add(number);
        }
        add("\"");
        memset(text + len, 'x', 10 * n);
        len += 10 * n;
        add("\"]");

        refused +=
            sym_json_load(&json, sym_str(text, len), MEMORY, 0, "no JSON", &err)
            == SYM_LIMIT;
        sym_json_drop(&json);
    }

    ok(refused > 0, "numbers and a text: %u were refused", refused);
}


static void
test_reading_on(void)
{
    sym_json_t json;
    sym_error_t err = { 0 };

    ok(sym_json_load(&json, SYM_STR("{\"a\":[1]}"), MEMORY, 0, "no JSON", &err)
           == SYM_OK,
       "the next text is read");
    ok(json_is_array(json_object_get(json.root, "a")), "... whole");
    sym_json_drop(&json);
}


int
main(void)
{
    text = malloc(LONG + 1024);

    is_refused('1', "", "");
    is_refused('1', "{\"a\":", "}");
    is_refused('1', "[0.", "]");
    is_refused('a', "[", "]");
    is_refused('x', "[\"", "\"]");
    is_refused('x', "{\"", "\":1}");
    is_refused('x', "[\"", "");
    test_lengths();
    test_reading_on();

    free(text);
    return done_testing();
}
