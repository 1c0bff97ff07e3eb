#include "api/frames.h"

void
sym_frame_json(sym_out_t *out, const char *key, sym_str_t json)
{
    if (json.data != NULL) {
        sym_out_raw(out, sym_cstr(key));
        sym_out_raw(out, json);
    }
}


void
sym_frame_strings(sym_out_t *out, const char *key, sym_str_t json)
{
    if (json.data != NULL && memchr(json.data, '"', json.len) != NULL) {
        sym_frame_json(out, key, json);
    }
}


static void
write_list(const sym_context_t *c, unsigned first, unsigned end,
           const char *key, sym_out_t *out)
{
    if (first >= end) {
        return;
    }

    sym_out_raw(out, sym_cstr(key));
    for (unsigned i = first; i < end; i++) {
        sym_out_raw(out, i == first ? SYM_STR("[") : SYM_STR(", "));
        sym_out_string(out, c->lines[i]);
    }
    sym_out_raw(out, SYM_STR("]"));
}


void
sym_frame_lines(sym_out_t *out, const sym_context_t *lines)
{
    write_list(lines, 0, lines->before, ", \"pre_context\": ", out);
    sym_out_raw(out, SYM_STR(", \"context_line\": "));
    sym_out_string(out, lines->lines[lines->before]);
    write_list(lines, lines->before + 1, lines->n, ", \"post_context\": ", out);
}
