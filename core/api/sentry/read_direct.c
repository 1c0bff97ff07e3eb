/*
 * The direct reader: takes the ordinary shape of a request straight out of the
 * body, in slices, and leaves strings where they are.  All other requests go to
 * the general reader, which also decides what is valid: those with escapes in
 * strings, keys given twice, negative or large numbers, lists of context,
 * variables, or errors.  A fuzz target compares the two (fuzz/fuzz_sentry.c).
 */
#include "api/sentry/readers.h"

#include "base/hex.h"
#include "base/json_plain.h"

/* Integers of this many digits fit every field's own check. */
#define DIGITS_MAX 18

/* Deeper lists of sources are left to the general reader. */
#define DEPTH_MAX 64

typedef enum {
    AT_BEGIN,
    AT_KEY,    /* of the request */
    AT_STACK,  /* of the list */
    AT_FIELD,  /* of a stack */
    AT_FRAME,  /* of a stack's list */
    AT_MODULE, /* of the list */
    AT_END
} where_t;

struct sentry_direct_s {
    const char *p, *end;
    where_t where;
    uint32_t seen;       /* keys of the request, by their bits */
    uint32_t seen_field; /* of the stack */
    sym_status_t failed; /* SYM_NOMEM, or SYM_UNSUPPORTED */
    sym_str_t sources, scraping;
};

typedef struct sentry_direct_s direct_t;

static bool
fail(direct_t *d, sym_status_t status)
{
    d->failed = status;
    return false;
}


static bool
odd(direct_t *d)
{
    return fail(d, d->failed == SYM_OK ? SYM_UNSUPPORTED : d->failed);
}


/* --- JSON --- */

static void
skip_space(direct_t *d)
{
    while (d->p < d->end
           && (*d->p == ' ' || *d->p == '\n' || *d->p == '\r' || *d->p == '\t'))
    {
        d->p++;
    }
}


/* The next character that is no space; '\0' at the end. */
static char
peek(direct_t *d)
{
    skip_space(d);
    if (d->p == d->end) {
        return '\0';
    }

    return *d->p;
}


static bool
take(direct_t *d, char c)
{
    if (peek(d) != c) {
        return odd(d);
    }

    d->p++;
    return true;
}


/* After a value: true if another follows, false at the end of its list or object.
 * Sets failed where neither is. */
static bool
has_more(direct_t *d, char close)
{
    char c = peek(d);

    if (c == ',') {
        d->p++;
        return true;
    }

    return c == close ? (d->p++, false) : odd(d);
}


/* Text as JSON takes it unescaped (RFC 8259, 7). */
static bool
is_unescaped(sym_str_t s)
{
    if (sym_is_plain(s)) {
        return true;
    }

    for (size_t i = 0; i < s.len; i++) {
        if ((uint8_t) s.data[i] < 0x20 || s.data[i] == '\\') {
            return false;
        }
    }

    return sym_utf8_valid(s);
}


/* Between quotes, whatever it is. */
static bool
take_quoted(direct_t *d, sym_str_t *text)
{
    const char *start, *quote;

    if (!take(d, '"')) {
        return false;
    }

    start = d->p;
    quote = memchr(start, '"', (size_t) (d->end - start));
    if (quote == NULL) {
        return odd(d);
    }

    *text = sym_str(start, (size_t) (quote - start));
    d->p = quote + 1;
    return true;
}


static bool
take_string(direct_t *d, sym_str_t *text)
{
    return take_quoted(d, text) && (is_unescaped(*text) || odd(d));
}


/* Unread: find_key() says whether it is a string. */
static bool
take_key(direct_t *d, sym_str_t *key)
{
    return take_quoted(d, key) && take(d, ':');
}


static bool
take_word(direct_t *d, sym_str_t word)
{
    skip_space(d);
    if (!sym_str_starts(sym_str(d->p, (size_t) (d->end - d->p)), word)) {
        return odd(d);
    }

    d->p += word.len;
    return true;
}


/* True if null stands here, and is taken. */
static bool
take_null(direct_t *d)
{
    return peek(d) == 'n' && take_word(d, SYM_STR("null"));
}


static bool
take_bool(direct_t *d, bool *is_true)
{
    *is_true = peek(d) == 't';
    return take_word(d, *is_true ? SYM_STR("true") : SYM_STR("false"));
}


/* A whole number, not negative. */
static bool
take_number(direct_t *d, sym_str_t *text, uint64_t *number)
{
    const char *start;
    size_t len;

    skip_space(d);
    start = d->p;
    while (d->p < d->end && *d->p >= '0' && *d->p <= '9') {
        d->p++;
    }

    len = (size_t) (d->p - start);
    if (len == 0 || len > DIGITS_MAX || (len > 1 && start[0] == '0')
        || (d->p < d->end && (*d->p == '.' || *d->p == 'e' || *d->p == 'E')))
    {
        return odd(d);
    }

    *text = sym_str(start, len);
    return sym_dec_read(*text, number);
}


static bool
take_hex(direct_t *d, uint64_t *number)
{
    sym_str_t text;

    if (peek(d) != '"') {
        return take_number(d, &text, number);
    }

    return take_string(d, &text)
           && (sentry_hex(text, number) == NULL || odd(d));
}


/* To its last quote, or the end. */
static void
skip_string(direct_t *d)
{
    while (++d->p < d->end && *d->p != '"') {
        d->p += *d->p == '\\' && d->p + 1 < d->end;
    }
}


/* A list or object, unread: jansson says whether it is one. */
static bool
take_nested(direct_t *d, sym_str_t *text)
{
    const char *start;
    uint32_t depth = 0;

    skip_space(d);
    start = d->p;

    for (; d->p < d->end; d->p++) {
        char c = *d->p;

        if (c == '"') {
            skip_string(d);
        } else if (c == '[' || c == '{') {
            depth++;
        } else if (c == ']' || c == '}') {
            depth--;
        }

        if (depth == 0 || depth > DEPTH_MAX) {
            break;
        }
    }

    if (d->p >= d->end || depth != 0) {
        return odd(d);
    }

    *text = sym_str(start, (size_t) (++d->p - start));
    return true;
}


/* --- tables of keys --- */

typedef struct {
    sym_str_t name;
    unsigned number;
} name_t;

#define KEY(text, number)                                                      \
    {                                                                          \
        { (text), sizeof(text) - 1 }, (number)                                 \
    }

/* In the place of a key's number.  ODD: given twice, or with escapes. */
enum { UNKNOWN = -1, ODD = -2 };

/* The place in the table. */
static int
find_key(const name_t *keys, size_t n, sym_str_t name, uint32_t *seen)
{
    for (size_t i = 0; i < n; i++) {
        if (sym_str_eq(keys[i].name, name)) {
            bool is_new = (*seen >> i & 1) == 0;

            *seen |= 1u << i;
            return is_new ? (int) i : ODD;
        }
    }

    return is_unescaped(name) ? UNKNOWN : ODD;
}


/* A value of an unknown key; lists and objects are left to the general reader. */
static bool
skip_value(direct_t *d)
{
    sym_str_t text;
    uint64_t number;
    bool is_true;

    switch (peek(d)) {
    case '"':
        return take_string(d, &text);
    case 't':
    case 'f':
        return take_bool(d, &is_true);
    case 'n':
        return take_null(d);
    default:
        return take_number(d, &text, &number);
    }
}


#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- frames --- */

enum {
    FRAME_ADDR = SENTRY_KEYS, /* behind those that only pass through */
    FRAME_MODE,
    FRAME_ADJUST,
    FRAME_TRUST,
    FRAME_NESTED /* for the general reader */
};

static const name_t frame_keys[] = {
    KEY("instruction_addr", FRAME_ADDR),
    KEY("package", SENTRY_PACKAGE),
    KEY("addr_mode", FRAME_MODE),
    KEY("platform", SENTRY_PLATFORM),
    KEY("function", SENTRY_FUNCTION),
    KEY("symbol", SENTRY_SYMBOL),
    KEY("trust", FRAME_TRUST),
    KEY("in_app", SENTRY_IN_APP),
    KEY("adjust_instruction_addr", FRAME_ADJUST),
    KEY("sym_addr", SENTRY_SYM_ADDR),
    KEY("filename", SENTRY_FILENAME),
    KEY("abs_path", SENTRY_ABS_PATH),
    KEY("lineno", SENTRY_LINENO),
    KEY("lang", SENTRY_LANG),
    KEY("function_id", SENTRY_FUNCTION_ID),
    KEY("context_line", SENTRY_CONTEXT_LINE),
    KEY("source_link", SENTRY_SOURCE_LINK),
    KEY("pre_context", FRAME_NESTED),
    KEY("post_context", FRAME_NESTED),
    KEY("vars", FRAME_NESTED),
};


static bool
take_mode(direct_t *d, sentry_frame_t *frame)
{
    sym_str_t text;

    return take_string(d, &text) && (sentry_mode(text, frame) || odd(d));
}


static bool
take_trust(direct_t *d, sentry_frame_t *frame)
{
    sym_str_t text;

    return take_string(d, &text) && (sentry_trust(text, frame) || odd(d));
}


static bool
take_adjust(direct_t *d, sentry_frame_t *frame)
{
    bool adjust;

    if (!take_bool(d, &adjust)) {
        return false;
    }

    frame->adjust = adjust ? SENTRY_ADJUST_YES : SENTRY_ADJUST_NO;
    return true;
}


/* What the answer only repeats. */
static bool
take_field(direct_t *d, sentry_t *s, sentry_frame_t *frame, sentry_key_t key)
{
    sym_str_t text = SYM_STR("");
    uint64_t number = 0;
    bool is_true, is_taken;

    if (key < SENTRY_STRINGS) {
        is_taken = take_string(d, &text);
    } else if (key < SENTRY_HEXES) {
        is_taken = take_hex(d, &number);
    } else if (key == SENTRY_IN_APP) {
        is_taken = take_bool(d, &is_true);
        text = is_true ? SYM_STR("true") : SYM_STR("false");
    } else {
        is_taken =
            take_number(d, &text, &number) && (number <= UINT32_MAX || odd(d));
    }

    if (!is_taken) {
        return false;
    }

    if (key == SENTRY_LANG && !sentry_is_language(text)) {
        return odd(d);
    }

    if (key >= SENTRY_STRINGS && key < SENTRY_HEXES) {
        return sentry_add_number(s, frame, key, number) || fail(d, SYM_NOMEM);
    }

    return sentry_add_field(s, frame, key, text) || fail(d, SYM_NOMEM);
}


static bool
take_frame_key(direct_t *d, sentry_t *s, sentry_frame_t *frame, unsigned key)
{
    switch (key) {
    case FRAME_ADDR:
        return take_hex(d, &frame->addr);
    case FRAME_MODE:
        return take_mode(d, frame);
    case FRAME_TRUST:
        return take_trust(d, frame);
    case FRAME_NESTED:
        return odd(d);
    default:
        break;
    }

    if (take_null(d)) {
        return true;
    }

    return key == FRAME_ADJUST ? take_adjust(d, frame)
                               : take_field(d, s, frame, (sentry_key_t) key);
}


/* The key and the value that most frames begin with, in one go.  False: they are
 * others, and nothing is taken. */
static bool
take_usual(direct_t *d, uint64_t *addr)
{
    const sym_str_t key = SYM_STR("\"instruction_addr\":"),
                    value = SYM_STR("\"0x");
    sym_str_t rest = sym_str(d->p, (size_t) (d->end - d->p));
    size_t n;

    if (!sym_str_starts(rest, key)) {
        return false;
    }

    n = key.len;
    n += n < rest.len && rest.data[n] == ' ';
    rest = sym_str(rest.data + n, rest.len - n);
    if (!sym_str_starts(rest, value)) {
        return false;
    }

    rest = sym_str(rest.data + value.len, rest.len - value.len);
    n = sym_hex_prefix(rest, addr);
    if (n == 0 || n == rest.len || rest.data[n] != '"') {
        return false;
    }

    d->p = rest.data + n + 1;
    return true;
}


static bool
take_frame(direct_t *d, sentry_t *s)
{
    uint32_t seen = 0, limit = s->options.limits.frames;
    sentry_stack_t *stack = &s->request.stacks[s->request.n_stacks - 1];
    sentry_frame_t *frame;
    sym_str_t name;

    if (limit != 0 && s->request.n_frames == limit) {
        return odd(d);
    }

    frame = sentry_add_frame(s);
    if (frame == NULL) {
        return fail(d, SYM_NOMEM);
    }

    if (!take(d, '{')) {
        return false;
    }

    if (take_usual(d, &frame->addr)) {
        seen = 1;
        if (!has_more(d, '}')) {
            return d->failed == SYM_OK;
        }
    }

    do {
        int at;

        if (!take_key(d, &name)) {
            return false;
        }

        at = find_key(frame_keys, COUNT(frame_keys), name, &seen);
        if (at == ODD
            || !(at == UNKNOWN
                     ? skip_value(d)
                     : take_frame_key(d, s, frame, frame_keys[at].number)))
        {
            return odd(d);
        }
    } while (has_more(d, '}'));

    stack->has_adjust |= frame->adjust != SENTRY_ADJUST_AUTO;
    return d->failed == SYM_OK && ((seen & 1) != 0 || odd(d));
}


/* --- stacks --- */

enum { STACK_FRAMES, STACK_REGISTERS, STACK_ID, STACK_NAME, STACK_REQUESTING };

static const name_t stack_keys[] = {
    KEY("frames", STACK_FRAMES),
    KEY("registers", STACK_REGISTERS),
    KEY("thread_id", STACK_ID),
    KEY("thread_name", STACK_NAME),
    KEY("is_requesting", STACK_REQUESTING),
};


static bool
take_registers(direct_t *d, sentry_t *s, sentry_stack_t *stack)
{
    if (!take(d, '{')) {
        return false;
    }

    if (peek(d) == '}') {
        d->p++;
        return true;
    }

    do {
        sym_str_t name;
        uint64_t value = 0;

        if (!take_string(d, &name) || !take(d, ':') || !take_hex(d, &value)) {
            return false;
        }

        for (const sentry_register_t *r = stack->registers; r != NULL;
             r = r->next) {
            if (sym_str_eq(r->name, name)) {
                return odd(d);
            }
        }

        if (++stack->n_registers > SENTRY_REGISTERS_MAX) {
            return odd(d);
        }

        if (!sentry_add_register(s, stack, name, value)) {
            return fail(d, SYM_NOMEM);
        }
    } while (has_more(d, '}'));

    return d->failed == SYM_OK;
}


/* The end of a stack's key: another follows, or the stack ends. */
static bool
end_field(direct_t *d)
{
    if (has_more(d, '}')) {
        d->where = AT_FIELD;
        return true;
    }

    if (d->failed != SYM_OK || (d->seen_field & 1) == 0) {
        return odd(d);
    }

    d->where = has_more(d, ']') ? AT_STACK : AT_KEY;
    return d->failed == SYM_OK;
}


static bool
take_stack_key(direct_t *d, sentry_t *s)
{
    sentry_stack_t *stack = &s->request.stacks[s->request.n_stacks - 1];
    sym_str_t name, text;
    int at;

    if (!take_key(d, &name)) {
        return false;
    }

    at = find_key(stack_keys, COUNT(stack_keys), name, &d->seen_field);
    if (at < 0) {
        return at == UNKNOWN && skip_value(d) ? end_field(d) : odd(d);
    }

    if (at == STACK_FRAMES) {
        if (!take(d, '[')) {
            return false;
        }

        if (peek(d) == ']') {
            d->p++;
            return end_field(d);
        }

        d->where = AT_FRAME;
        return true;
    }

    if (at == STACK_REGISTERS) {
        return take_registers(d, s, stack) && end_field(d);
    }

    if (take_null(d)) {
        return end_field(d);
    }

    switch (at) {
    case STACK_ID:
        stack->has_thread_id = true;
        return take_number(d, &text, &stack->thread_id) && end_field(d);
    case STACK_NAME:
        return take_string(d, &stack->thread_name) && end_field(d);
    default:
        stack->has_requesting = true;
        return take_bool(d, &stack->is_requesting) && end_field(d);
    }
}


static bool
take_stack(direct_t *d, sentry_t *s)
{
    uint32_t limit = s->options.limits.stacks;

    if ((limit != 0 && s->request.n_stacks == limit) || !take(d, '{')) {
        return odd(d);
    }

    d->seen_field = 0;
    d->where = AT_FIELD;
    return sentry_add_stack(s) != NULL || fail(d, SYM_NOMEM);
}


/* --- modules --- */

enum {
    MODULE_TYPE,
    MODULE_CODE_ID,
    MODULE_CODE_FILE,
    MODULE_DEBUG_ID,
    MODULE_DEBUG_FILE,
    MODULE_CHECKSUM,
    MODULE_ADDR,
    MODULE_SIZE
};

static const name_t module_keys[] = {
    KEY("type", MODULE_TYPE),
    KEY("code_id", MODULE_CODE_ID),
    KEY("code_file", MODULE_CODE_FILE),
    KEY("debug_id", MODULE_DEBUG_ID),
    KEY("debug_file", MODULE_DEBUG_FILE),
    KEY("debug_checksum", MODULE_CHECKSUM),
    KEY("image_addr", MODULE_ADDR),
    KEY("image_size", MODULE_SIZE),
};


static bool
take_module_key(direct_t *d, sentry_module_t *module, int key)
{
    sym_str_t text;

    if (key == MODULE_ADDR) {
        return take_hex(d, &module->addr);
    }

    if (key != MODULE_TYPE && take_null(d)) {
        return true;
    }

    if (key == MODULE_SIZE) {
        module->has_size = true;
        return take_number(d, &text, &module->size);
    }

    if (!take_string(d, &text)) {
        return false;
    }

    switch (key) {
    case MODULE_TYPE:
        module->id.type = sym_object_type(text);
        break;
    case MODULE_CODE_ID:
        (void) sym_code_id_read(text, &module->id.code_id);
        break;
    case MODULE_CODE_FILE:
        module->code_file = text;
        break;
    case MODULE_DEBUG_ID:
        (void) sym_debug_id_read_sentry(text, &module->id.debug_id);
        break;
    case MODULE_DEBUG_FILE:
        module->debug_file = text;
        break;
    default:
        module->debug_checksum = text;
        break;
    }

    return true;
}


static bool
take_module(direct_t *d, sentry_t *s)
{
    uint32_t seen = 0, limit = s->options.limits.modules;
    sentry_module_t *module;
    sym_str_t name;

    if ((limit != 0 && s->request.n_modules == limit) || !take(d, '{')) {
        return odd(d);
    }

    module = sentry_add_module(s);
    if (module == NULL) {
        return fail(d, SYM_NOMEM);
    }

    do {
        int at;

        if (!take_key(d, &name)) {
            return false;
        }

        at = find_key(module_keys, COUNT(module_keys), name, &seen);
        if (at == ODD
            || !(at == UNKNOWN ? skip_value(d)
                               : take_module_key(d, module, at)))
        {
            return odd(d);
        }
    } while (has_more(d, '}'));

    if (d->failed != SYM_OK || (seen & 1) == 0) {
        return odd(d);
    }

    d->where = has_more(d, ']') ? AT_MODULE : AT_KEY;
    return d->failed == SYM_OK;
}


/* --- the request --- */

enum {
    REQUEST_STACKS,
    REQUEST_MODULES,
    REQUEST_SOURCES,
    REQUEST_OPTIONS,
    REQUEST_PLATFORM,
    REQUEST_SIGNAL,
    REQUEST_SCRAPING
};

/* A bit of what was seen, for keys that are not known. */
#define SEEN_ANY (1u << 31)

static const name_t request_keys[] = {
    KEY("stacktraces", REQUEST_STACKS), KEY("modules", REQUEST_MODULES),
    KEY("sources", REQUEST_SOURCES),    KEY("options", REQUEST_OPTIONS),
    KEY("platform", REQUEST_PLATFORM),  KEY("signal", REQUEST_SIGNAL),
    KEY("scraping", REQUEST_SCRAPING),
};


enum { OPTION_ORDER, OPTION_CANDIDATES, OPTION_CONTEXT, OPTION_VARIABLES };

static const name_t option_keys[] = {
    KEY("frame_order", OPTION_ORDER),
    KEY("dif_candidates", OPTION_CANDIDATES),
    KEY("apply_source_context", OPTION_CONTEXT),
    KEY("extract_variables", OPTION_VARIABLES),
};


static bool
take_option(direct_t *d, sentry_request_t *q, int key)
{
    sym_str_t text;

    switch (key) {
    case OPTION_ORDER:
        return take_string(d, &text) && (sentry_order(text, q) || odd(d));
    case OPTION_CANDIDATES:
        return take_bool(d, &q->has_candidates);
    case OPTION_CONTEXT:
        return take_bool(d, &q->has_context);
    default:
        return take_bool(d, &q->has_variables);
    }
}


static bool
take_options(direct_t *d, sentry_t *s)
{
    uint32_t seen = 0;
    sym_str_t name;

    if (!take(d, '{')) {
        return false;
    }

    if (peek(d) == '}') {
        d->p++;
        return true;
    }

    do {
        int at;

        if (!take_key(d, &name)) {
            return false;
        }

        at = find_key(option_keys, COUNT(option_keys), name, &seen);
        if (at == ODD
            || !(at == UNKNOWN ? skip_value(d)
                               : take_option(d, &s->request, at)))
        {
            return odd(d);
        }
    } while (has_more(d, '}'));

    return d->failed == SYM_OK;
}


/* A list that is read in slices. */
static bool
begin_list(direct_t *d, where_t where)
{
    if (!take(d, '[')) {
        return false;
    }

    if (peek(d) == ']') {
        d->p++;
        return true;
    }

    d->where = where;
    return true;
}


static bool
take_signal(direct_t *d, sentry_request_t *q)
{
    sym_str_t text;
    uint64_t number = 0;

    q->has_signal = !take_null(d);
    if (!q->has_signal) {
        return true;
    }

    if (!take_number(d, &text, &number) || number > UINT32_MAX) {
        return odd(d);
    }

    q->signal = (uint32_t) number;
    return true;
}


static bool
take_request_key(direct_t *d, sentry_t *s)
{
    sym_str_t name, text;
    int at;

    /* after a list that ended, its comma or the end of all */
    if (d->seen != 0 && !has_more(d, '}')) {
        d->where = AT_END;
        return d->failed == SYM_OK;
    }

    if (!take_key(d, &name)) {
        return false;
    }

    at = find_key(request_keys, COUNT(request_keys), name, &d->seen);
    switch (at) {
    case REQUEST_STACKS:
        return begin_list(d, AT_STACK);
    case REQUEST_MODULES:
        return begin_list(d, AT_MODULE);
    case REQUEST_SOURCES:
        return take_null(d)
               || (d->failed == SYM_OK && take_nested(d, &d->sources));
    case REQUEST_OPTIONS:
        return take_options(d, s);
    case REQUEST_PLATFORM:
        return take_null(d) || (d->failed == SYM_OK && take_string(d, &text));
    case REQUEST_SIGNAL:
        return take_signal(d, &s->request);
    case REQUEST_SCRAPING:
        return take_nested(d, &d->scraping);
    case UNKNOWN:
        d->seen |= SEEN_ANY;
        return skip_value(d);
    default:
        return odd(d);
    }
}


static bool
take_next(direct_t *d, sentry_t *s)
{
    switch (d->where) {
    case AT_BEGIN:
        d->where = AT_KEY;
        return take(d, '{');
    case AT_KEY:
        return take_request_key(d, s);
    case AT_STACK:
        return take_stack(d, s);
    case AT_FIELD:
        return take_stack_key(d, s);
    case AT_FRAME:
        if (!take_frame(d, s)) {
            return false;
        }
        return has_more(d, ']') || (d->failed == SYM_OK && end_field(d));
    case AT_MODULE:
        return take_module(d, s);
    case AT_END:
        break;
    }

    return true;
}


static sym_status_t
finish(direct_t *d, sentry_t *s)
{
    sym_status_t rc;

    if (peek(d) != '\0' || d->p != d->end) {
        return SYM_UNSUPPORTED;
    }

    rc = sentry_read_part(s, SENTRY_PART_SOURCES, d->sources);
    return rc != SYM_OK
               ? rc
               : sentry_read_part(s, SENTRY_PART_SCRAPING, d->scraping);
}


sym_status_t
sentry_read_direct(sentry_t *s, uint32_t budget)
{
    direct_t *d = s->direct;

    if (d == NULL) {
        d = sym_arena_calloc(s->base.arena, 1, sizeof(*d));
        if (d == NULL) {
            return SYM_NOMEM;
        }

        d->p = s->base.body.data;
        d->end = d->p + s->base.body.len;
        s->direct = d;
        s->request.has_context = true;
    }

    for (; d->where != AT_END; budget--) {
        if (budget == 0) {
            return SYM_AGAIN;
        }

        if (!take_next(d, s)) {
            return d->failed;
        }
    }

    return finish(d, s);
}
