/*
 * ips_facts.c - members of a report as JSON besides its stacks and images.  Names of
 * keys, and the fields of a text that they stand for: "Interpreting the JSON format of a
 * crash report" in Apple's documentation.
 */
#include "api/apple/ips.h"

#include <stdio.h>

#include "base/text.h"

/* Ranks of details: the best that a report has is shown.  The first, fourth and last
 * but one are those of reports as text. */
enum {
    RANK_ASI = 1,
    RANK_REASON,
    RANK_MESSAGE,
    RANK_SUBTYPE,
    RANK_TERMINATION,
    RANK_CODES,
    RANK_INDICATOR
};

static void
take_details(apple_ips_t *ips, unsigned rank, sym_str_t text)
{
    apple_t *a = ips->a;

    if (text.len != 0 && (a->details_rank == 0 || rank < a->details_rank)) {
        a->details_rank = rank;
        a->facts.details = text;
    }
}


static void
add_line(sym_text_t *text, const json_t *line)
{
    if (json_is_string(line)) {
        if (text->len != 0) {
            sym_text_byte(text, '\n');
        }
        sym_text_add(
            text, sym_str(json_string_value(line), json_string_length(line)));
    }
}


/* The strings of a list as lines. */
static void
add_lines(sym_text_t *text, const json_t *lines)
{
    const json_t *line;
    size_t i;

    json_array_foreach(lines, i, line)
    {
        add_line(text, line);
    }
}


static void
take_lines(apple_ips_t *ips, unsigned rank, sym_text_t *text)
{
    if (text->failed) {
        ips->rc = SYM_NOMEM;
    } else if (text->len != 0) {
        take_details(ips, rank, sym_text_end(text));
    }
}


/* --- members --- */

/* Messages of the application, by library. */
static void
read_asi(apple_ips_t *ips, const json_t *asi)
{
    sym_text_t text = { .arena = ips->a->sentry.base.arena };
    const json_t *lines;
    const char *library;

    json_object_foreach((json_t *) asi, library, lines)
    {
        add_lines(&text, lines);
    }

    take_lines(ips, RANK_ASI, &text);
}


/* "EXC_BAD_ACCESS (SIGSEGV)", as in a text. */
static sym_str_t
reason_of(apple_ips_t *ips, const json_t *exception)
{
    sym_text_t text = { .arena = ips->a->sentry.base.arena };
    sym_str_t type = ips_text(ips, exception, "type");
    sym_str_t sig = ips_text(ips, exception, "signal");

    if (type.data == NULL || sig.data == NULL) {
        return type.data != NULL ? type : sig;
    }

    sym_text_add(&text, type);
    sym_text_add(&text, SYM_STR(" ("));
    sym_text_add(&text, sig);
    sym_text_byte(&text, ')');
    ips->rc = text.failed ? SYM_NOMEM : ips->rc;
    return sym_text_end(&text);
}


static void
read_exception(apple_ips_t *ips, const json_t *exception)
{
    ips->a->facts.reason = reason_of(ips, exception);
    take_details(ips, RANK_MESSAGE, ips_text(ips, exception, "message"));
    take_details(ips, RANK_SUBTYPE, ips_text(ips, exception, "subtype"));
    take_details(ips, RANK_CODES, ips_text(ips, exception, "codes"));
}


/* The exception of Objective-C. */
static void
read_exception_reason(apple_ips_t *ips, const json_t *reason)
{
    take_details(ips, RANK_REASON, ips_text(ips, reason, "composed_message"));
}


/* Why the system ended the process: of watchdogs, missing libraries, signatures. */
static void
read_termination(apple_ips_t *ips, const json_t *termination)
{
    sym_text_t text = { .arena = ips->a->sentry.base.arena };

    add_lines(&text, json_object_get(termination, "reasons"));
    take_lines(ips, RANK_TERMINATION, &text);
    take_details(ips, RANK_INDICATOR, ips_text(ips, termination, "indicator"));
}


/* {"train": "macOS 12.0.1", "build": "21A559"} */
static void
read_os(apple_ips_t *ips, const json_t *os)
{
    apple_facts_t *f = &ips->a->facts;

    f->build = ips_text(ips, os, "build");
    f->os_name = ips_text(ips, os, "train");

    for (size_t i = f->os_name.len; i > 1; i--) {
        if (f->os_name.data[i - 1] == ' ') {
            f->version = sym_str(f->os_name.data + i, f->os_name.len - i);
            f->os_name.len = i - 1;
            break;
        }
    }
}


static sym_str_t
copy(apple_ips_t *ips, const json_t *value)
{
    sym_str_t text = sym_arena_copy(
        ips->a->sentry.base.arena,
        sym_str(json_is_string(value) ? json_string_value(value) : "",
                json_string_length(value)));

    ips->rc = text.data == NULL ? SYM_NOMEM : ips->rc;
    return text;
}


static void
read_time(apple_ips_t *ips, const json_t *time)
{
    apple_facts_t *f = &ips->a->facts;

    f->has_time = apple_read_time(copy(ips, time), &f->time_s);
}


static void
read_arch(apple_ips_t *ips, const json_t *cpu)
{
    ips->a->facts.arch = apple_arch(copy(ips, cpu));
}


static void
read_model(apple_ips_t *ips, const json_t *model)
{
    ips->a->facts.device = copy(ips, model);
}


static void
read_faulting(apple_ips_t *ips, const json_t *number)
{
    ips->has_faulting = json_is_integer(number);
    ips->faulting = (uint64_t) json_integer_value(number);
}


/* Stacks of exceptions, before macOS 12.1; the first caused the others. */
static void
read_backtraces(apple_ips_t *ips, const json_t *backtraces)
{
    ips->backtrace = copy(ips, json_array_get(backtraces, 0));
}


static const struct {
    sym_str_t key;
    void (*read)(apple_ips_t *ips, const json_t *value);
} facts[] = {
    { { "asi", 3 }, read_asi },
    { { "asiBacktraces", 13 }, read_backtraces },
    { { "captureTime", 11 }, read_time },
    { { "cpuType", 7 }, read_arch },
    { { "exception", 9 }, read_exception },
    { { "exceptionReason", 15 }, read_exception_reason },
    { { "faultingThread", 14 }, read_faulting },
    { { "modelCode", 9 }, read_model },
    { { "osVersion", 9 }, read_os },
    { { "termination", 11 }, read_termination },
};

bool
ips_is_fact(sym_str_t key)
{
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (sym_str_eq(key, facts[i].key)) {
            return true;
        }
    }

    return false;
}


void
ips_read_fact(apple_ips_t *ips, sym_str_t key, const json_t *value)
{
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
        if (sym_str_eq(key, facts[i].key)) {
            facts[i].read(ips, value);
        }
    }
}


void
ips_read_summary(apple_ips_t *ips, const json_t *summary)
{
    apple_facts_t *f = &ips->a->facts;

    if (!f->has_time) {
        read_time(ips, json_object_get(summary, "timestamp"));
    }

    if (f->os_name.data == NULL) {
        f->os = ips_text(ips, summary, "os_version");
    }
}
