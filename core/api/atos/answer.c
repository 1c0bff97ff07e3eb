#include "api/atos/request.h"

/* Enough bytes for most addresses: only a text within one output buffer can be
 * cached. */
#define FOUND_ROOM 2048

typedef struct answer_s {
    sym_resolver_t *resolver;
    sym_atos_style_t style;
    uint32_t module; /* module whose texts the style reads */
    uint32_t next;   /* address */
    bool is_begun;   /* the frame is written up to next_piece */
    uint32_t next_piece;
    uint32_t *budget; /* budget of the current call */
    const sym_out_t *out;
    bool has_failed; /* there was no memory for a text */

    sym_question_t *questions; /* questions of the current chunk */
    uint32_t n_questions, next_question;
    uint32_t chunk_end; /* first address after the chunk */
} answer_t;


static sym_str_t
read_text(void *ctx, sym_string_ref_t ref)
{
    answer_t *answer = ctx;
    sym_str_t text;

    answer->has_failed |=
        !sym_resolver_text(answer->resolver, answer->module, ref, &text);
    return text;
}


static sym_str_t
show_name(void *ctx, sym_str_t name, uint8_t lang)
{
    const answer_t *answer = ctx;

    return sym_resolver_show(answer->resolver, name, lang);
}


static bool
is_spent(void *ctx)
{
    const answer_t *answer = ctx;

    sym_resolver_charge(answer->resolver, answer->budget);
    return *answer->budget == 0 || answer->out->is_full;
}


/* --- addresses --- */

static bool
is_return_address(const atos_t *a, uint32_t i)
{
    return a->has_return_addresses && i > 0;
}


/* Computes the offset of the i-th address; returns whether it can be looked up
 * in the store. */
static bool
aim(const atos_t *a, uint32_t i, sym_atos_frame_t *frame,
    sym_question_t *question)
{
    const address_t *address = &a->addresses[i];
    const image_t *image = &a->images[address->image];
    uint64_t base = 0, at;

    *frame = (sym_atos_frame_t){ .address = address->text,
                                 .image = image->name,
                                 .value = address->value };
    frame->is_missing = a->base.needs[image->module].found != SYM_NEED_FOUND;

    if (!frame->is_missing && image->base.from == SYM_ATOS_SLIDE) {
        base = sym_resolver_image_base(a->answer->resolver, image->module);
    }

    /* without symbols, the linked address of the image is unknown */
    if (frame->is_missing && image->base.from == SYM_ATOS_SLIDE) {
        return false;
    }

    frame->has_offset =
        sym_atos_offset(&image->base, base, address->value, &frame->offset);
    at = frame->offset - (is_return_address(a, i) && frame->offset > 0);
    *question = (sym_question_t){ image->module, (uint32_t) at };
    return !frame->is_missing && frame->has_offset && at <= UINT32_MAX;
}


static void
ask_chunk(atos_t *a, uint32_t budget)
{
    answer_t *answer = a->answer;
    double started = a->base.options->now_s();
    uint32_t n = a->base.stats.frames - answer->next;
    sym_atos_frame_t frame;

    n = n < SYM_RESOLVE_CHUNK ? n : SYM_RESOLVE_CHUNK;
    answer->chunk_end = answer->next + (n < budget ? n : budget);
    answer->n_questions = 0;
    answer->next_question = 0;

    for (uint32_t i = answer->next; i < answer->chunk_end; i++) {
        answer->n_questions +=
            aim(a, i, &frame, &answer->questions[answer->n_questions]);
    }

    sym_resolver_ask(answer->resolver, answer->questions, answer->n_questions);
    a->base.stats.lookup_s += a->base.options->now_s() - started;
}


/* Returns false if a part of the frame is still to be written. */
static bool
write_frame(answer_t *answer, const sym_atos_frame_t *frame, sym_out_t *out)
{
    const sym_atos_style_t *style = &answer->style;

    return style->is_json
               ? sym_atos_members(style, frame, &answer->next_piece, out)
               : sym_atos_lines(style, frame, &answer->next_piece, out);
}


/* Writes the store's answer to the next question.  Returns like
 * write_frame(). */
static bool
write_found(answer_t *answer, sym_atos_frame_t *frame, uint32_t module,
            bool may_keep, sym_out_t *out)
{
    uint32_t i = answer->next_question;
    uint64_t before = 0;
    char *start = NULL;

    if (!answer->is_begun) {
        if ((may_keep && sym_resolver_repeat(answer->resolver, i, out))
            || !sym_out_room(out, FOUND_ROOM))
        {
            answer->next_question++;
            return true;
        }

        start = out->pos;
        before = out->before;
    }

    answer->module = module;
    sym_resolver_statement(answer->resolver, i, &frame->answer);
    if (!write_frame(answer, frame, out)) {
        return false;
    }

    /* must fit in one piece: without a symbol, the line contains the address of
     * this crash */
    if (start != NULL && may_keep && frame->answer.n_levels != 0) {
        sym_resolver_keep(answer->resolver, i, start, before, out);
    }

    answer->next_question++;
    return true;
}


/* Returns false if the budget is spent in the middle of the address. */
static bool
write_result(atos_t *a, uint32_t i, sym_out_t *out)
{
    answer_t *answer = a->answer;
    sym_atos_frame_t frame;
    sym_question_t question;
    bool is_asked = aim(a, i, &frame, &question);

    if (!answer->is_begun) {
        answer->next_piece = 0;
    }

    if (answer->style.is_json && !answer->is_begun) {
        sym_out_raw(out, i == 0 ? SYM_STR("{") : SYM_STR(", {"));
        sym_atos_head(&frame, out);
        sym_out_raw(out, SYM_STR(", "));
    }

    if (is_asked) {
        /* the first address of a stack is not a return address */
        answer->is_begun = !write_found(
            answer, &frame, question.module,
            is_return_address(a, i) == a->has_return_addresses, out);
    } else {
        (void) write_frame(answer, &frame, out); /* symbols without names */
    }

    if (answer->is_begun) {
        return false;
    }

    if (answer->style.is_json) {
        sym_out_raw(out, SYM_STR("}"));
    } else {
        sym_out_raw(out, answer->style.mode == SYM_ATOS_ALL ? SYM_STR("\n\n")
                                                            : SYM_STR("\n"));
    }

    return true;
}


static sym_status_t
write_results(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    atos_t *a = (atos_t *) r;
    answer_t *answer = a->answer;
    uint32_t n = r->stats.frames;

    answer->budget = budget;
    answer->out = out;

    while (answer->next<n && * budget> 0 && !out->is_full) {
        if (answer->next == answer->chunk_end) {
            ask_chunk(a, *budget);
        }

        if (!write_result(a, answer->next, out)) {
            break;
        }

        answer->next++;
        sym_resolver_charge(answer->resolver, budget);
        *budget -= *budget != 0;
    }

    if (answer->next == n) {
        if (answer->style.is_json) {
            sym_out_raw(out, SYM_STR("]}"));
        }
        r->step = NULL;
    }

    return answer->has_failed ? SYM_NOMEM : SYM_OK;
}


/* --- an answer in a snapshot --- */

sym_status_t
atos_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    atos_t *a = (atos_t *) r;
    answer_t *answer = a->answer;
    uint32_t n = r->stats.frames;
    sym_question_t *questions;

    (void) budget;
    if (answer == NULL) {
        answer = sym_arena_alloc(r->arena, sizeof(*answer));
        questions = sym_arena_alloc(
            r->arena, (n < SYM_RESOLVE_CHUNK ? n : SYM_RESOLVE_CHUNK)
                          * sizeof(*questions));
        if (answer == NULL || questions == NULL) {
            return SYM_NOMEM;
        }
        a->answer = answer;
    } else {
        questions = answer->questions;
    }

    *answer = (answer_t){
        .resolver = r->resolver,
        .style = { .mode = a->mode,
                   .full_path = a->full_path,
                   .is_json = !a->is_text,
                   .delimiter = SYM_STR("\n"),
                   .read = read_text,
                   .show = show_name,
                   .is_enough = is_spent,
                   .ctx = answer },
        .questions = questions,
    };

    if (answer->style.is_json) {
        sym_out_raw(out, SYM_STR("{\"results\": ["));
    }

    r->step = write_results;
    return SYM_OK;
}


bool
atos_resume(sym_request_t *r)
{
    const atos_t *a = (const atos_t *) r;
    answer_t *answer = a->answer;
    uint32_t module;

    answer->chunk_end = answer->next; /* chunks are looked up again in the new
                                         snapshot */

    if (!answer->is_begun) {
        return true;
    }

    module = a->images[a->addresses[answer->next].image].module;
    return !sym_resolver_is_lost(answer->resolver, module);
}
