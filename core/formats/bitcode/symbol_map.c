#include "formats/bitcode/symbol_map.h"

#include <stdlib.h>

#include "base/hex.h"

#define HEADER "BCSymbolMap Version: 2.0"


/* Reads the line at `at`, and advances to the next. */
static sym_str_t
next_line(sym_str_t text, size_t *at)
{
    const char *start = text.data + *at;
    const char *end = memchr(start, '\n', text.len - *at);
    size_t len = end != NULL ? (size_t) (end - start) : text.len - *at;

    *at += end != NULL ? len + 1 : len;
    if (len > 0 && start[len - 1] == '\r') {
        len--;
    }

    return sym_str(start, len);
}


static uint32_t
count_lines(sym_str_t text, size_t at)
{
    uint32_t n = 0;

    while (at < text.len) {
        (void) next_line(text, &at);
        n++;
    }

    return n;
}


sym_status_t
sym_symbol_map_read(sym_symbol_map_t *map, sym_str_t file, sym_error_t *err)
{
    size_t at = 0;
    uint32_t n;

    *map = (sym_symbol_map_t){ 0 };

    if (file.len > SYM_SYMBOL_MAP_BYTES_MAX) {
        return sym_fail(err, SYM_LIMIT, "the symbol map is too large");
    }

    if (file.len == 0 || !sym_str_eq(next_line(file, &at), SYM_STR(HEADER))) {
        return sym_fail(err, SYM_MALFORMED, "not a BCSymbolMap of version 2.0");
    }

    if (!sym_utf8_valid(file)) {
        return sym_fail(err, SYM_MALFORMED, "the symbol map is not UTF-8");
    }

    n = count_lines(file, at);
    map->starts = malloc(((size_t) n + 1) * sizeof(*map->starts));
    if (map->starts == NULL) {
        return sym_fail(err, SYM_NOMEM, "no memory for a symbol map");
    }

    map->text = file;
    map->n = n;
    for (uint32_t i = 0; i < n; i++) {
        map->starts[i] = (uint32_t) at;
        (void) next_line(file, &at);
    }

    return SYM_OK;
}


void
sym_symbol_map_free(sym_symbol_map_t *map)
{
    free(map->starts);
    *map = (sym_symbol_map_t){ 0 };
}


/* The number N of "__hidden#N_".  False: the text has another form. */
static bool
read_number(sym_str_t text, uint64_t *number)
{
    const sym_str_t prefix = SYM_STR(SYM_HIDDEN);

    return text.len > prefix.len && sym_str_starts(text, prefix)
           && text.data[text.len - 1] == '_'
           && sym_dec_read(
               sym_str(text.data + prefix.len, text.len - prefix.len - 1),
               number);
}


sym_str_t
sym_symbol_map_resolve(const sym_symbol_map_t *map, sym_str_t text)
{
    uint64_t number;
    sym_str_t name;
    size_t at;

    if (!read_number(text, &number) || number >= map->n) {
        return text;
    }

    at = map->starts[number];
    name = next_line(map->text, &at);
    return name.len <= SYM_HIDDEN_NAME_MAX ? name : text;
}
