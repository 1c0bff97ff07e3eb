/*
 * Mappings and artifacts of kind `jvm`, and stack traces.  Input that begins with a
 * line "@" is cut into extents (u16 length, then the bytes), opened as an artifact,
 * and all of it is read; any other is a mapping, then a line "@", then a trace that
 * is answered with it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "artifacts/jvm/export/trace.h"
#include "artifacts/kinds.h"
#include "check.h"
#include "extents.h"
#include "formats/formats.h"

#define SEPARATOR "@\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);


/* Discards the output. */
static bool
more(sym_out_t *out, size_t need)
{
    static char window[SYM_OUT_NEED_MAX];

    (void) need;
    out->pos = window;
    out->end = window + sizeof(window);
    return true;
}


static void
trace(const sym_jvm_t *j, sym_str_t text)
{
    sym_out_t out = { .more = more };
    sym_trace_t *t = calloc(1, sizeof(*t));

    check(t != NULL);
    t->jvm = j;

    while (text.len > 0) {
        const char *newline = memchr(text.data, '\n', text.len);
        size_t len =
                   newline != NULL ? (size_t) (newline - text.data) : text.len,
               taken = newline != NULL ? len + 1 : len;

        (void) sym_trace_line(t, sym_str(text.data, len), &out);
        text = sym_str(text.data + taken, text.len - taken);
    }

    free(t);
}


/* --- a mapping --- */

static sym_status_t
put(void *ctx, const sym_format_output_t *output, sym_error_t *err)
{
    input_t *made = ctx;
    sym_writer_stats_t stats;
    sym_status_t rc = output->finish(output->writer, output->info, take_extent,
                                     made, &stats, err);

    if (rc == SYM_OK) {
        const sym_extent_source_t extents = { get, made, made->n };
        sym_error_t bad = { 0 };

        check(sym_kind_verify(sym_kind_find(SYM_KIND_JVM), &extents, &bad)
              == SYM_OK);
    }

    return rc;
}


static void
convert(sym_str_t text)
{
    input_t made = { .n = 0 };
    sym_format_file_t f = { .data = text, .put = put, .ctx = &made };
    sym_str_t asked = { text.data + text.len, 0 };
    sym_error_t err = { 0 };
    sym_jvm_t j;

    for (size_t i = 1; i + 2 <= text.len; i++) {
        if (memcmp(text.data + i - 1, "\n" SEPARATOR, 3) == 0) {
            f.data.len = i;
            asked = sym_str(text.data + i + 2, text.len - i - 2);
            break;
        }
    }

    if (sym_format_of(SYM_CONVERSION_proguard)->convert(&f, 0, &err) == SYM_OK
        && sym_jvm_open(&j, get, &made, &err) == SYM_OK)
    {
        trace(&j, asked);
    }

    drop_extents(&made);
}


/* --- an artifact --- */

static void
read_all(input_t *in)
{
    sym_extent_view_t views[EXTENTS_MAX] = { { 0 } };
    sym_error_t err = { 0 };
    sym_jvm_t j;

    if (sym_jvm_open(&j, get, in, &err) != SYM_OK) {
        return;
    }

    if (j.in.n <= EXTENTS_MAX) {
        sym_jvm_remember(&j, views);
    }

    (void) sym_jvm_check(&j, &err);

    for (uint32_t i = 0; i < j.n_classes && i < 8; i++) {
        sym_jvm_class_t class;
        sym_jvm_method_t method;

        for (uint32_t k = 0;
             sym_jvm_class(&j, i, &class) == SYM_OK && k < class.n_methods
             && k < 4 && sym_jvm_method(&j, &class, k, &method) == SYM_OK;
             k++)
        {
            sym_jvm_question_t q = { .class_name = class.name,
                                     .method = method.name,
                                     .thrown = &class.original };
            sym_jvm_carried_t carried = { true, 1 };

            for (q.line = 0; q.line < 8; q.line++) {
                uint64_t steps = 1000;
                sym_jvm_answer_t a;
                sym_jvm_frame_t frame;
                sym_jvm_found_t found;

                if (sym_jvm_ask(&j, &q, &carried, &steps, &a, &found) != SYM_OK)
                {
                    break;
                }

                while (sym_jvm_next_frame(&a, &frame) == SYM_OK) {
                }
            }
        }
    }
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input_t in;

    if (size < 2 || memcmp(data, SEPARATOR, 2) != 0) {
        convert(sym_str((const char *) data, size));
        return 0;
    }

    in = cut(data + 2, size - 2);
    read_all(&in);
    return 0;
}
