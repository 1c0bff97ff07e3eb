/*
 * text.c - crash reports of Apple as text, line by line.
 *
 * A line that begins a section ends the previous one.  Spaces at the end of a
 * line are ignored.
 */
#include "api/apple/apple.h"

#include "base/hex.h"
#include "base/text.h"

/* Lines of registers have many; real reports have fewer. */
#define REGISTERS_MAX 1024

typedef struct {
    uint64_t value;
    bool is_too_large; /* for 64 bits: then it is not a report */
} hex_t;

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


/* Removes the first n bytes. */
static sym_str_t
take(sym_str_t *s, size_t n)
{
    sym_str_t part = sym_str(s->data, n);

    *s = sym_str(s->data + n, s->len - n);
    return part;
}


/* Removes the decimal digits at the beginning. */
static sym_str_t
take_digits(sym_str_t *s)
{
    size_t n = 0;

    while (n < s->len && s->data[n] >= '0' && s->data[n] <= '9') {
        n++;
    }

    return take(s, n);
}


/* Removes "0x" and digits; false: they are not there. */
static bool
take_hex(sym_str_t *s, hex_t *hex)
{
    sym_str_t rest = *s;
    int digit;

    *hex = (hex_t){ 0 };
    if (!skip(&rest, SYM_STR("0x")) || rest.len == 0
        || sym_hex_digit(rest.data[0]) < 0)
    {
        return false;
    }

    while (rest.len != 0 && (digit = sym_hex_digit(rest.data[0])) >= 0) {
        hex->is_too_large |= hex->value >> 60 != 0;
        hex->value = hex->value << 4 | (unsigned) digit;
        (void) take(&rest, 1);
    }

    *s = rest;
    return true;
}


/* Skips spaces; false: there are none. */
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


/* Exception keys with details, the best one first. */
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

/* <n> <module> <0xaddr> <symbol>[ + off | (file:line)].  Only module and
 * address are used: the first address that is followed by more text. */
static bool
read_frame_line(sym_str_t line, hex_t *addr, sym_str_t *module)
{
    size_t word;

    if (take_digits(&line).len == 0 || !take_spaces(&line) || line.len == 0) {
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
    return word < line.len;
}


static sym_status_t
read_frame(apple_t *a, sym_str_t line)
{
    sym_str_t module, package = { NULL, 0 };
    sentry_frame_t *frame;
    hex_t addr;

    if (!read_frame_line(line, &addr, &module)) {
        a->section = APPLE_KEYS;
        return SYM_OK;
    }

    if (addr.is_too_large) {
        return failed(a);
    }

    if (!sym_str_eq(module, SYM_STR("???"))) {
        package = apple_json(a, module);
        if (package.data == NULL) {
            return SYM_NOMEM;
        }
    }

    return apple_add_frame(a, addr.value, package, &frame);
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


/* "Thread N crashed with ARCH Thread State:", "Thread N name: NAME", and
 * "Thread N[ Crashed]:[ NAME]".  SYM_NOT_FOUND: neither. */
static sym_status_t
begin_thread(apple_t *a, sym_str_t line)
{
    sentry_stack_t *stack;
    bool is_crashed;
    uint64_t id;
    sym_str_t number, name;

    if (!skip(&line, SYM_STR("Thread "))
        || (number = take_digits(&line)).len == 0) {
        return SYM_NOT_FOUND;
    }

    if (skip(&line, SYM_STR(" crashed with "))) {
        bool is_state = is_thread_state(line);

        a->section = is_state ? APPLE_REGISTERS : a->section;
        return is_state ? SYM_OK : SYM_NOT_FOUND;
    }

    if (skip(&line, SYM_STR(" name:"))) {
        name = without_queue(trim_start(line));
        if (name.len == 0) {
            return SYM_NOT_FOUND;
        }

        a->section = APPLE_KEYS;
        a->name = name;
        a->has_name = sym_dec_read(number, &a->named);
        return a->has_name ? SYM_OK : failed(a);
    }

    is_crashed = skip(&line, SYM_STR(" Crashed"));
    if (!skip(&line, SYM_STR(":"))) {
        return SYM_NOT_FOUND;
    }

    if (!sym_dec_read(number, &id)) {
        return failed(a);
    }

    name = trim_start(line);
    if (a->has_name && a->named == id) {
        name = a->name;
        a->has_name = false;
    }

    a->section = APPLE_THREAD;
    return apple_add_stack(a, id, name, is_crashed, &stack);
}


/* The last value of a register counts. */
static sym_status_t
add_register(apple_t *a, sym_str_t name, const hex_t *hex)
{
    sentry_register_t *r = a->registers;

    if (hex->is_too_large) {
        return failed(a);
    }

    while (r != NULL && !sym_str_eq(r->name, name)) {
        r = r->next;
    }

    if (r == NULL) {
        r = sym_arena_alloc(a->sentry.base.arena, sizeof(*r));
        if (r == NULL) {
            return SYM_NOMEM;
        }
        *r = (sentry_register_t){ a->registers, name, 0 };
        a->registers = r;
    }

    r->value = hex->value;
    return SYM_OK;
}


/* Lower-case letters and digits before `end`. */
static sym_str_t
name_before(const char *begin, const char *end)
{
    const char *p = end;

    while (
        p > begin
        && ((p[-1] >= 'a' && p[-1] <= 'z') || (p[-1] >= '0' && p[-1] <= '9')))
    {
        p--;
    }

    return sym_str(p, (size_t) (end - p));
}


/* "name: 0xhex", anywhere in the line. */
static sym_status_t
read_registers(apple_t *a, sym_str_t line)
{
    const char *colon;
    sym_status_t rc = SYM_OK;

    if (line.len == 0) {
        a->section = APPLE_KEYS;
    }

    while (rc == SYM_OK && a->n_registers < REGISTERS_MAX && line.len != 0
           && (colon = memchr(line.data, ':', line.len)) != NULL)
    {
        sym_str_t name = name_before(line.data, colon);
        hex_t hex;

        (void) take(&line, (size_t) (colon + 1 - line.data));
        if (name.len != 0 && take_spaces(&line) && take_hex(&line, &hex)) {
            rc = add_register(a, name, &hex);
            a->n_registers++;
        }
    }

    return rc;
}


/* --- images --- */

/* Gets the architecture from "[+]name arch [(version)] <". */
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
read_image_line(sym_str_t line, hex_t *start, hex_t *end, apple_image_t *image,
                sym_str_t *arch)
{
    const char *open, *close;

    line = trim_start(line);
    if (!take_hex(&line, start)) {
        return false;
    }

    line = trim_start(line);
    if (!skip(&line, SYM_STR("-"))) {
        return false;
    }

    line = trim_start(line);
    if (!take_hex(&line, end) || !take_spaces(&line)) {
        return false;
    }

    open = memchr(line.data, '<', line.len);
    close = memchr(line.data, '>', line.len);
    if (open == NULL || close == NULL || close < open) {
        return false;
    }

    *arch = arch_of(sym_str(line.data, (size_t) (open - line.data)));
    image->uuid = sym_str(open + 1, (size_t) (close - open - 1));
    image->path = trim_start(
        sym_str(close + 1, (size_t) (line.data + line.len - close - 1)));
    return true;
}


static sym_status_t
read_image(apple_t *a, sym_str_t line)
{
    apple_image_t image;
    hex_t start, end;
    sym_str_t arch;
    sym_status_t rc;

    if (line.len == 0) {
        return SYM_OK;
    }

    if (!read_image_line(line, &start, &end, &image, &arch)) {
        a->section = APPLE_KEYS;
        return SYM_OK;
    }

    if (start.is_too_large || end.is_too_large || end.value < start.value) {
        return failed(a);
    }

    image.start = start.value;
    image.size = end.value - start.value;

    if (a->first_arch.data == NULL) {
        a->first_arch = apple_arch(arch);
    }

    rc = apple_add_image(a, &image);
    return rc == SYM_MALFORMED ? failed(a) : rc;
}


/* --- details of the application --- */

static void
read_details(apple_t *a, sym_str_t line)
{
    a->details.arena = a->sentry.base.arena;
    if (a->details.len != 0) {
        sym_text_byte(&a->details, '\n');
    }

    sym_text_add(&a->details, line);
}


/* One empty line at the end belongs to the form. */
static sym_status_t
end_details(apple_t *a)
{
    sym_str_t text;

    if (a->details.len == 0) {
        return SYM_OK;
    }

    text = sym_text_end(&a->details);
    if (text.data == NULL) {
        return SYM_NOMEM;
    }

    text.len -= text.data[text.len - 1] == '\n';
    a->facts.details = text;
    return SYM_OK;
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
apple_add_frame_lines(apple_t *a, sym_str_t text)
{
    sym_status_t rc = SYM_OK;

    a->section = APPLE_THREAD;
    while (rc == SYM_OK && text.len != 0 && a->section == APPLE_THREAD) {
        rc = read_frame(a, trim_end(sym_str_cut(&text, '\n')));
    }

    return rc;
}


sym_status_t
apple_read_text(apple_t *a, uint32_t budget)
{
    while (a->report.len != 0) {
        sym_status_t rc;

        if (budget-- == 0) {
            return SYM_AGAIN;
        }

        rc = read_line(a, trim_end(sym_str_cut(&a->report, '\n')));
        if (rc != SYM_OK) {
            return rc;
        }
    }

    place_registers(a);
    if (a->facts.arch.data == NULL) {
        a->facts.arch = a->first_arch;
    }

    return end_details(a);
}
