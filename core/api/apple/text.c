/*
 * text.c - crash reports of Apple as text, line by line.
 *
 * A line that begins a section ends the one before.  Spaces at the end of a line
 * do not matter.
 */
#include "api/apple/apple.h"

#include "base/hex.h"
#include "base/text.h"

static bool
is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}


static sym_str_t
trim_end(sym_str_t s)
{
    while (s.len != 0 && is_space(s.data[s.len - 1])) {
        s.len--;
    }

    return s;
}


static sym_str_t
trim_start(sym_str_t s)
{
    while (s.len != 0 && is_space(s.data[0])) {
        s = sym_str(s.data + 1, s.len - 1);
    }

    return s;
}


static bool
skip(sym_str_t *s, sym_str_t prefix)
{
    if (!sym_str_starts(*s, prefix)) {
        return false;
    }

    *s = sym_str(s->data + prefix.len, s->len - prefix.len);
    return true;
}


/* Removes digits of either base. */
static bool
take_dec(sym_str_t *s, uint64_t *value)
{
    size_t n = 0;

    while (n < s->len && s->data[n] >= '0' && s->data[n] <= '9') {
        n++;
    }

    if (!sym_dec_read(sym_str(s->data, n), value)) {
        return false;
    }

    *s = sym_str(s->data + n, s->len - n);
    return true;
}


static bool
take_hex(sym_str_t *s, uint64_t *value)
{
    sym_str_t rest = *s;
    size_t n;

    if (!skip(&rest, SYM_STR("0x"))) {
        return false;
    }

    n = sym_hex_prefix(rest, value);
    *s = sym_str(rest.data + n, rest.len - n);
    return n != 0;
}


/* Removes spaces; false: there are none. */
static bool
take_spaces(sym_str_t *s)
{
    sym_str_t rest = trim_start(*s);
    bool is_some = rest.len != s->len;

    *s = rest;
    return is_some;
}


/* --- "key: value" --- */

static sym_status_t
failed(apple_t *a)
{
    a->is_failed = true;
    return SYM_MALFORMED;
}


/* Exception keys with more detail, the best first. */
static const sym_str_t details[] = {
    { "Exception Message", 17 },
    { "Exception Subtype", 17 },
    { "Exception Codes", 15 },
};

static void
take_details(apple_t *a, sym_str_t key, sym_str_t value)
{
    for (unsigned i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
        if (sym_str_eq(key, details[i])
            && (a->details_rank == 0 || i + 1 <= a->details_rank))
        {
            a->details_rank = i + 1;
            a->facts.details = value;
        }
    }
}


static sym_status_t
read_key(apple_t *a, sym_str_t line)
{
    const char *colon = memchr(line.data, ':', line.len);
    sym_str_t key, value;
    sym_debug_id_t uuid;
    uint64_t number;

    if (colon == NULL) {
        return SYM_OK;
    }

    key =
        trim_start(trim_end(sym_str(line.data, (size_t) (colon - line.data))));
    value = trim_start(
        sym_str(colon + 1, (size_t) (line.data + line.len - colon - 1)));

    if (sym_str_eq(key, SYM_STR("Incident Identifier"))) {
        return sym_debug_id_read_uuid(value, &uuid) ? SYM_OK : failed(a);
    }

    if (sym_str_eq(key, SYM_STR("Report Version"))) {
        return sym_dec_read(value, &number) && number <= UINT32_MAX ? SYM_OK
                                                                    : failed(a);
    }

    if (sym_str_eq(key, SYM_STR("Date/Time"))) {
        a->facts.has_time = apple_read_time(value, &a->facts.time_s);
        return a->facts.has_time ? SYM_OK : failed(a);
    }

    if (sym_str_eq(key, SYM_STR("Hardware Model"))) {
        a->facts.device = value;
    } else if (sym_str_eq(key, SYM_STR("OS Version"))) {
        a->facts.os = value;
    } else if (sym_str_eq(key, SYM_STR("Exception Type"))) {
        a->facts.reason = value;
    } else if (sym_str_eq(key, SYM_STR("Code Type"))) {
        const char *end = memchr(value.data, ' ', value.len);

        a->facts.arch = apple_arch(
            end == NULL ? value
                        : sym_str(value.data, (size_t) (end - value.data)));
    } else {
        take_details(a, key, value);
    }

    return SYM_OK;
}


/* --- threads --- */

/* <n> <module> <0xaddr> <symbol>[ + off | (file:line)].  Only module and address
 * are of use: the first address that more text follows. */
static bool
read_frame_line(sym_str_t line, uint64_t *addr, sym_str_t *module)
{
    uint64_t number;
    size_t word;

    line = trim_start(line);
    if (!take_dec(&line, &number) || !take_spaces(&line) || line.len == 0) {
        return false;
    }

    for (word = 1; word < line.len; word++) {
        sym_str_t rest = sym_str(line.data + word, line.len - word);

        if (is_space(line.data[word - 1]) && take_hex(&rest, addr)
            && take_spaces(&rest) && rest.len != 0)
        {
            break;
        }
    }

    *module = trim_end(sym_str(line.data, word < line.len ? word : 0));
    if (sym_str_eq(*module, SYM_STR("???"))) {
        *module = SYM_STR("");
    }

    return word < line.len;
}


static sym_status_t
read_frame(apple_t *a, sym_str_t line)
{
    uint64_t addr = 0;
    sym_str_t module;

    if (!read_frame_line(line, &addr, &module)) {
        a->section = APPLE_KEYS;
        return SYM_OK;
    }

    return apple_add_frame(a, addr, module);
}


/* NAME[ Dispatch queue: QUEUE] */
static sym_str_t
without_queue(sym_str_t name)
{
    static const char queue[] = " Dispatch queue:";
    const char *found = name.len == 0 ? NULL
                                      : memmem(name.data + 1, name.len - 1,
                                               queue, sizeof(queue) - 1);

    return found == NULL
               ? name
               : trim_end(sym_str(name.data, (size_t) (found - name.data)));
}


/* "ARCH Thread State:" or, as Apple writes it, "ARCH Thread State (64-bit):" */
static bool
is_thread_state(sym_str_t text)
{
    static const char *const ends[] = {
        " Thread State:", " Thread State (64-bit):", " Thread State (32-bit):"
    };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        const size_t len = strlen(ends[i]);

        if (text.len >= len
            && memcmp(text.data + text.len - len, ends[i], len) == 0) {
            return true;
        }
    }

    return false;
}


/* "Thread N name: NAME", "Thread N crashed with ARCH Thread State:", and
 * "Thread N[ Crashed]:[ NAME]".  SYM_NOT_FOUND: neither. */
static sym_status_t
begin_thread(apple_t *a, sym_str_t line)
{
    sentry_stack_t *stack;
    bool is_crashed;
    uint64_t id;
    sym_str_t name;

    if (!skip(&line, SYM_STR("Thread ")) || !take_dec(&line, &id)) {
        return SYM_NOT_FOUND;
    }

    if (skip(&line, SYM_STR(" name:"))) {
        a->has_name = true;
        a->named = id;
        a->name = without_queue(trim_start(line));
        a->section = APPLE_KEYS;
        return SYM_OK;
    }

    if (skip(&line, SYM_STR(" crashed with "))) {
        bool is_state = is_thread_state(line);

        a->section = is_state ? APPLE_REGISTERS : a->section;
        return is_state ? SYM_OK : SYM_NOT_FOUND;
    }

    is_crashed = skip(&line, SYM_STR(" Crashed"));
    if (!skip(&line, SYM_STR(":"))) {
        return SYM_NOT_FOUND;
    }

    name = trim_start(line);
    if (name.len == 0 && a->has_name && a->named == id) {
        name = a->name;
    }

    a->section = APPLE_THREAD;
    return apple_add_stack(a, id, name, is_crashed, &stack);
}


/* Repeated "name: 0xhex"; they are kept in reverse order. */
static sym_status_t
read_registers(apple_t *a, sym_str_t line)
{
    if (line.len == 0) {
        a->section = APPLE_KEYS;
        return SYM_OK;
    }

    for (;;) {
        const char *colon;
        sentry_register_t *r;
        uint64_t value;
        sym_str_t name;

        line = trim_start(line);
        colon = memchr(line.data, ':', line.len);
        if (line.len == 0 || colon == NULL) {
            return SYM_OK;
        }

        name = sym_str(line.data, (size_t) (colon - line.data));
        line = trim_start(
            sym_str(colon + 1, (size_t) (line.data + line.len - colon - 1)));
        if (!take_hex(&line, &value)) {
            return SYM_OK;
        }

        r = sym_arena_alloc(a->sentry.base.arena, sizeof(*r));
        if (r == NULL) {
            return SYM_NOMEM;
        }

        *r = (sentry_register_t){ a->registers, name, value };
        a->registers = r;
    }
}


/* --- images --- */

/* From "[+]name arch [(version)] <" the architecture. */
static sym_str_t
arch_of(sym_str_t names)
{
    size_t start;

    names = trim_end(names);
    if (names.len != 0 && names.data[names.len - 1] == ')') {
        while (names.len != 0 && names.data[names.len - 1] != '(') {
            names.len--;
        }
        names.len -= names.len != 0;
        names = trim_end(names);
    }

    for (start = names.len; start != 0 && !is_space(names.data[start - 1]);
         start--) {
    }

    return sym_str(names.data + start, names.len - start);
}


/* 0xstart - 0xend [+]name arch [(version)] <uuid> path */
static bool
read_image_line(sym_str_t line, apple_image_t *image, sym_str_t *arch)
{
    const char *open, *close;
    uint64_t end;

    line = trim_start(line);
    if (!take_hex(&line, &image->start)) {
        return false;
    }

    line = trim_start(line);
    if (!skip(&line, SYM_STR("-"))) {
        return false;
    }

    line = trim_start(line);
    if (!take_hex(&line, &end) || !take_spaces(&line)) {
        return false;
    }

    open = memchr(line.data, '<', line.len);
    close = memchr(line.data, '>', line.len);
    if (open == NULL || close == NULL || close < open) {
        return false;
    }

    *arch = arch_of(sym_str(line.data, (size_t) (open - line.data)));
    image->size = end > image->start ? end - image->start : 0;
    image->uuid = sym_str(open + 1, (size_t) (close - open - 1));
    image->path = trim_start(
        sym_str(close + 1, (size_t) (line.data + line.len - close - 1)));
    return true;
}


static sym_status_t
read_image(apple_t *a, sym_str_t line)
{
    apple_image_t image;
    sym_str_t arch;
    sym_status_t rc;

    if (line.len == 0) {
        return SYM_OK;
    }

    if (!read_image_line(line, &image, &arch)) {
        a->section = APPLE_KEYS;
        return SYM_OK;
    }

    if (a->first_arch.data == NULL) {
        a->first_arch = apple_arch(arch);
    }

    rc = apple_add_image(a, &image);
    return rc == SYM_MALFORMED ? failed(a) : rc;
}


/* --- details of the application --- */

/* Lines of the application are one text, which ends with its last line that is
 * not empty. */
static void
read_details(apple_t *a, sym_str_t line)
{
    if (line.len == 0) {
        return;
    }

    if (a->details_rank != 0 || a->facts.details.data == NULL) {
        a->details_rank = 0;
        a->facts.details = line;
    }

    a->facts.details.len =
        (size_t) (line.data + line.len - a->facts.details.data);
}


/* Copies the lines without the spaces at their ends. */
static sym_status_t
join_details(apple_t *a)
{
    sym_text_t text = { .arena = a->sentry.base.arena };
    sym_str_t rest = a->facts.details;

    while (rest.len != 0) {
        const char *end = memchr(rest.data, '\n', rest.len);
        size_t len = end == NULL ? rest.len : (size_t) (end - rest.data);

        sym_text_add(&text, trim_end(sym_str(rest.data, len)));
        rest = sym_str(rest.data + len, rest.len - len);
        if (rest.len != 0) {
            sym_text_byte(&text, '\n');
            rest = sym_str(rest.data + 1, rest.len - 1);
        }
    }

    if (a->facts.details.data != NULL) {
        a->facts.details = sym_text_end(&text);
    }

    return text.failed ? SYM_NOMEM : SYM_OK;
}


/* --- sections --- */

static sym_status_t
read_line(apple_t *a, sym_str_t line)
{
    static const struct {
        sym_str_t heading;
        apple_section_t section;
    } sections[] = {
        { { "Binary Images:", 14 }, APPLE_IMAGES },
        { { "Application Specific Information:", 33 }, APPLE_DETAILS },
        { { "Filtered syslog:", 16 }, APPLE_SYSLOG },
    };
    sym_status_t rc;

    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        if (sym_str_starts(line, sections[i].heading)) {
            a->section = sections[i].section;
            return SYM_OK;
        }
    }

    rc = begin_thread(a, line);
    if (rc != SYM_NOT_FOUND) {
        return rc;
    }

    switch (a->section) {
    case APPLE_THREAD:
        return read_frame(a, line);
    case APPLE_IMAGES:
        return read_image(a, line);
    case APPLE_REGISTERS:
        return read_registers(a, line);
    case APPLE_DETAILS:
        read_details(a, line);
        return SYM_OK;
    case APPLE_KEYS:
        return read_key(a, line);
    default:
        return SYM_OK;
    }
}


/* Assigns the registers to the thread that crashed. */
static void
place_registers(apple_t *a)
{
    sentry_request_t *q = &a->sentry.request;

    for (uint32_t i = 0; i < q->n_stacks; i++) {
        if (q->stacks[i].is_requesting) {
            q->stacks[i].registers = a->registers;
            return;
        }
    }
}


sym_status_t
apple_read_text(apple_t *a, uint32_t budget)
{
    while (a->report.len != 0) {
        const char *end = memchr(a->report.data, '\n', a->report.len);
        size_t len =
            end == NULL ? a->report.len : (size_t) (end - a->report.data);
        size_t used = len + (end != NULL);
        sym_status_t rc;

        if (budget-- == 0) {
            return SYM_AGAIN;
        }

        rc = read_line(a, trim_end(sym_str(a->report.data, len)));
        if (rc != SYM_OK) {
            return rc;
        }

        a->report = sym_str(a->report.data + used, a->report.len - used);
    }

    place_registers(a);
    if (a->facts.arch.data == NULL) {
        a->facts.arch = a->first_arch;
    }

    return join_details(a);
}
