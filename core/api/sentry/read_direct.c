/*
 * The direct reader.  It reads requests with the usual structure from the body,
 * in slices.  It copies only strings with escapes that lookups need; values
 * that are only passed through keep their JSON text.  All other requests go to
 * the general reader, which also decides what is valid: requests with escapes
 * in keys, with duplicate keys, or with errors.  A fuzz target compares the two
 * (fuzz/fuzz_sentry.c).  The file has more than 800 lines because all fields
 * are read by the same few functions at its top, which the compiler inlines.
 */
#include "api/sentry/readers.h"

#include "base/hex.h"
#include "json/raw.h"

/* Integers with at most this many digits fit; each field checks its own
 * range. */
#define DIGITS_MAX 18

/* Length of a frame's text that costs no more than a lookup. */
#define ITEM_BYTES 1024

typedef enum {
    AT_BEGIN,
    AT_KEY,    /* key of the request */
    AT_STACK,  /* a stack of the list */
    AT_FIELD,  /* a key of a stack */
    AT_FRAME,  /* a frame of a stack */
    AT_MODULE, /* a module of the list */
    AT_END
} where_t;

struct sentry_direct_s {
    const char *p, *end;
    where_t where;
    uint32_t seen;       /* keys of the request seen so far, by their bits */
    uint32_t seen_field; /* keys of the stack seen so far */
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
    /* usually no space follows, and one comparison suffices */
    if (d->p < d->end && (uint8_t) *d->p <= ' ') {
        d->p = sym_raw_space(d->p, d->end);
    }
}


/* Returns the next character that is not a space; '\0' at the end. */
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


/* Reads the character after a value.  True: another value follows; false: the
 * list or object ends.  Sets failed if it is neither. */
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


/* Moves past text that was read; NULL: the general reader must take over. */
static bool
move(direct_t *d, const char *p)
{
    if (p == NULL) {
        return odd(d);
    }

    d->p = p;
    return true;
}


static bool
take_raw(direct_t *d, sym_raw_string_t *string)
{
    skip_space(d);
    return move(d, sym_raw_string(d->p, d->end, string));
}


static bool
take_string(direct_t *d, sentry_t *s, sym_str_t *text)
{
    sym_raw_string_t string;

    if (!take_raw(d, &string)) {
        return false;
    }

    *text = sym_raw_decode(s->base.arena, &string);
    return text->data != NULL || fail(d, SYM_NOMEM);
}


/* Reads a string without escapes. */
static bool
take_plain(direct_t *d, sym_str_t *text)
{
    sym_raw_string_t string;

    if (!take_raw(d, &string)) {
        return false;
    }

    *text = string.text;
    return !string.has_escapes || odd(d);
}


static bool
take_key(direct_t *d, sym_str_t *key)
{
    return take_plain(d, key) && take(d, ':');
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


/* Skips a null; returns true if there was one. */
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


/* Reads the digits of a JSON integer, but not of a real. */
static bool
take_digits(direct_t *d, sym_str_t *text)
{
    const char *start = d->p;

    while (d->p < d->end && *d->p >= '0' && *d->p <= '9') {
        d->p++;
    }

    *text = sym_str(start, (size_t) (d->p - start));
    return (text->len != 0 && (text->len == 1 || start[0] != '0')
            && (d->p == d->end
                || (*d->p != '.' && *d->p != 'e' && *d->p != 'E')))
           || odd(d);
}


/* Reads a non-negative integer. */
static bool
take_number(direct_t *d, sym_str_t *text, uint64_t *number)
{
    skip_space(d);
    return take_digits(d, text)
           && ((text->len <= DIGITS_MAX && sym_dec_read(*text, number))
               || odd(d));
}


/* Reads a 64-bit integer. 2^64 is added to negative ones, except -0. */
static bool
take_integer(direct_t *d, uint64_t *number)
{
    bool is_negative = peek(d) == '-';
    sym_str_t digits;

    d->p += is_negative;
    if (!take_digits(d, &digits) || !sym_dec_read(digits, number)) {
        return odd(d);
    }

    if (is_negative) {
        if (*number == 0 || *number > (uint64_t) INT64_MAX + 1) {
            return odd(d);
        }
        *number = 0 - *number;
    }

    return true;
}


static bool
take_hex(direct_t *d, uint64_t *number)
{
    sym_str_t text;

    if (peek(d) != '"') {
        return take_integer(d, number);
    }

    return take_plain(d, &text) && (sentry_hex(text, number) == NULL || odd(d));
}


/* Skips any value. */
static bool
take_value(direct_t *d, sym_str_t *text)
{
    const char *start;

    skip_space(d);
    start = d->p;
    if (!move(d, sym_raw_value(start, d->end))) {
        return false;
    }

    *text = sym_str(start, (size_t) (d->p - start));
    return true;
}


/* Skips the value of an unknown key. */
static bool
skip_value(direct_t *d)
{
    return move(d, sym_raw_value(d->p, d->end));
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

/* Results instead of a key's number.  ODD: a duplicate. */
enum { UNKNOWN = -1, ODD = -2 };

/* Index in the table. */
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

    return UNKNOWN;
}


#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* --- frames --- */

enum {
    FRAME_ADDR = SENTRY_KEYS, /* bits after those of keys that only pass
                                 through */
    FRAME_MODE,
    FRAME_ADJUST,
    FRAME_TRUST
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
    KEY("pre_context", SENTRY_PRE_CONTEXT),
    KEY("post_context", SENTRY_POST_CONTEXT),
    KEY("vars", SENTRY_VARS),
};


static bool
take_mode(direct_t *d, sentry_frame_t *frame)
{
    sym_str_t text;

    return take_plain(d, &text) && (sentry_mode(text, frame) || odd(d));
}


static bool
take_trust(direct_t *d, sentry_frame_t *frame)
{
    sym_str_t text;

    return take_plain(d, &text) && (sentry_trust(text, frame) || odd(d));
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


/* Reads a list of strings; "no value" if it is empty. */
static bool
take_lines(direct_t *d, sym_str_t *text)
{
    const char *start;
    sym_raw_string_t line;

    skip_space(d);
    start = d->p;
    if (!take(d, '[')) {
        return false;
    }

    if (peek(d) == ']') {
        d->p++;
        *text = SYM_STR("");
        return true;
    }

    do {
        if (!take_raw(d, &line)) {
            return false;
        }
    } while (has_more(d, ']'));

    *text = sym_str(start, (size_t) (d->p - start));
    return d->failed == SYM_OK;
}


static bool
take_vars(direct_t *d, sym_str_t *text)
{
    const char *start;

    if (peek(d) != '{') {
        return odd(d);
    }

    start = d->p;
    if (!move(d, sym_raw_unique(start, d->end))) {
        return false;
    }

    *text = sym_str(start, (size_t) (d->p - start));
    return true;
}


/* Reads a string with its quotes. */
static bool
take_quoted(direct_t *d, sym_str_t *text)
{
    sym_raw_string_t string;

    if (!take_raw(d, &string)) {
        return false;
    }

    *text = sym_str(string.text.data - 1, string.text.len + 2);
    return true;
}


/* Returns the text of a value that the answer only repeats; "": no value. */
static bool
take_text(direct_t *d, sentry_t *s, sentry_key_t key, sym_str_t *text)
{
    uint64_t number;
    bool is_true;

    if (key < SENTRY_STRINGS) {
        return take_string(d, s, text);
    }

    if (key < SENTRY_QUOTED) {
        return take_quoted(d, text);
    }

    switch (key) {
    case SENTRY_PRE_CONTEXT:
    case SENTRY_POST_CONTEXT:
        return take_lines(d, text);
    case SENTRY_VARS:
        return take_vars(d, text);
    case SENTRY_IN_APP:
        *text = peek(d) == 't' ? SYM_STR("true") : SYM_STR("false");
        return take_bool(d, &is_true);
    default:
        return take_number(d, text, &number)
               && (number <= UINT32_MAX || odd(d));
    }
}


static bool
take_field(direct_t *d, sentry_t *s, sentry_frame_t *frame, sentry_key_t key)
{
    sym_str_t text;
    uint64_t number = 0;

    if (key >= SENTRY_STRINGS && key < SENTRY_HEXES) {
        return take_hex(d, &number)
               && (sentry_add_number(s, frame, key, number)
                   || fail(d, SYM_NOMEM));
    }

    if (!take_text(d, s, key, &text)
        || (key == SENTRY_LANG && !sentry_is_language(text)))
    {
        return odd(d);
    }

    if (key >= SENTRY_HEXES && text.len == 0) {
        return true;
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
    case SENTRY_PRE_CONTEXT:
    case SENTRY_POST_CONTEXT:
        break; /* never null */
    default:
        if (take_null(d)) {
            return true;
        }
    }

    return key == FRAME_ADJUST ? take_adjust(d, frame)
                               : take_field(d, s, frame, (sentry_key_t) key);
}


/* Reads in one step the key and the value with which most frames begin.  False:
 * the frame differs, and nothing was read. */
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
    uint32_t seen = 0, limit = s->base.options->limits.frames;
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

        if (!take_string(d, s, &name) || !take(d, ':') || !take_hex(d, &value))
        {
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


/* After a key's value: another key of the stack follows, or the stack ends. */
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
        return take_string(d, s, &stack->thread_name) && end_field(d);
    default:
        stack->has_requesting = true;
        return take_bool(d, &stack->is_requesting) && end_field(d);
    }
}


static bool
take_stack(direct_t *d, sentry_t *s)
{
    uint32_t limit = s->base.options->limits.stacks;

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
take_module_key(direct_t *d, sentry_t *s, sentry_module_t *module, int key)
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

    if (!take_string(d, s, &text)) {
        return false;
    }

    switch (key) {
    case MODULE_TYPE:
        module->ref.type = sym_object_type(text);
        break;
    case MODULE_CODE_ID:
        (void) sym_code_id_read(text, &module->ref.code_id);
        break;
    case MODULE_CODE_FILE:
        module->code_file = text;
        break;
    case MODULE_DEBUG_ID:
        (void) sym_debug_id_read_sentry(text, &module->ref.debug_id);
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
    uint32_t seen = 0, limit = s->base.options->limits.modules;
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
                               : take_module_key(d, s, module, at)))
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

/* Bit for unknown keys, among those that were seen. */
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
        return take_plain(d, &text) && (sentry_order(text, q) || odd(d));
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


/* Reads a list in slices. */
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

    /* after the end of a list: a comma, or the end of the request */
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
               || (d->failed == SYM_OK && take_value(d, &d->sources));
    case REQUEST_OPTIONS:
        return take_options(d, s);
    case REQUEST_PLATFORM:
        return take_null(d) || (d->failed == SYM_OK && take_quoted(d, &text));
    case REQUEST_SIGNAL:
        return take_signal(d, &s->request);
    case REQUEST_SCRAPING:
        return take_value(d, &d->scraping);
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

    while (d->where != AT_END) {
        const char *start = d->p;
        size_t cost;

        if (budget == 0) {
            return SYM_AGAIN;
        }

        if (!take_next(d, s)) {
            return d->failed;
        }

        cost = 1 + (size_t) (d->p - start) / ITEM_BYTES;
        budget -= cost < budget ? (uint32_t) cost : budget;
    }

    return finish(d, s);
}
