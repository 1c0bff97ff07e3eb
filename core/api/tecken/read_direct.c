#include "api/tecken/readers.h"

#include "json/raw.h"

/* The next item to read in the body. */
typedef enum {
    AT_KEY,    /* key of an object, or its end */
    AT_JOB,    /* item of "jobs" */
    AT_STACK,  /* item of "stacks" */
    AT_FRAME,  /* item of a stack */
    AT_MODULE, /* item of "memoryMap" */
    AT_VALUE_END,
    AT_END
} place_t;

typedef struct direct_s {
    const char *pos;
    const char *end; /* the last byte other than white space, a brace; loops
                        that stop at a brace need not check for the end of the
                        body */
    place_t place;
    bool is_first; /* keys of this object seen so far */
    bool in_jobs;  /* this object is an item of "jobs" */
    bool has_jobs, has_job, has_stacks, has_map;
    uint64_t max_index; /* 1 + the largest module index of this job */
    uint32_t n_frames;  /* number of frames of this stack */
} direct_t;

/* Integers with more digits are left to the general reader. */
#define DIGITS_MAX 18

/* --- letters --- */

#define IN_TEXT 1u /* allowed in an unescaped JSON string */
#define IN_NAME 2u /* allowed in a debug file's name (as in Eliot) */
#define IN_ID 4u

#define TEXT IN_TEXT
#define NAME (IN_TEXT | IN_NAME)
#define HEX (IN_TEXT | IN_NAME | IN_ID)

static const uint8_t letters[256] = {
    [' '] = NAME,         ['!'] = TEXT,        ['#' ... '*'] = TEXT,
    ['+'] = NAME,         [','] = TEXT,        ['-'] = NAME,
    ['.'] = NAME,         ['/'] = TEXT,        ['0' ... '9'] = HEX,
    [':'] = TEXT,         [';'] = TEXT,        ['<'] = NAME,
    ['='] = TEXT,         ['>'] = NAME,        ['?'] = TEXT,
    ['@'] = NAME,         ['A' ... 'F'] = HEX, ['G' ... 'Z'] = NAME,
    ['['] = TEXT,         [']'] = TEXT,        ['^'] = TEXT,
    ['_'] = NAME,         ['`'] = TEXT,        ['a' ... 'f'] = HEX,
    ['g' ... 'z'] = NAME, ['{'] = NAME,        ['|'] = TEXT,
    ['}'] = NAME,         ['~'] = NAME,
};

static inline const char *
skip_space(const char *p)
{
    /* usually no space follows, and one comparison suffices */
    while ((uint8_t) *p <= ' '
           && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
    {
        p++;
    }

    return p;
}


/* Reads the string at p, which may contain only one class of characters; NULL:
 * it contains others. */
static const char *
read_string(const direct_t *d, const char *p, unsigned class, sym_str_t *text)
{
    const char *start = p + 1, *end = d->end;

    if (*p != '"') {
        return NULL;
    }

    for (p = start; p < end && (letters[(uint8_t) *p] & class) != 0; p++) {
        /* continues to the quote */
    }

    *text = sym_str(start, (size_t) (p - start));
    return *p == '"' ? p + 1 : NULL;
}


static inline unsigned
digit(char c)
{
    return (unsigned) (uint8_t) c - '0';
}


/* RFC 8259, section 6: no leading zeros. */
static inline const char *
read_number(const char *p, uint64_t *number)
{
    const char *start = p;
    uint64_t value = 0;
    unsigned next;

    while ((next = digit(*p)) <= 9) {
        value = value * 10 + next;
        p++;
    }

    if (p == start || p - start > DIGITS_MAX
        || (*start == '0' && p - start > 1)) {
        return NULL;
    }

    *number = value;
    return p;
}


/* --- frames --- */

/* Reads the comma or bracket after an item. */
static inline const char *
read_separator(const char *p, bool *is_last)
{
    p = skip_space(p);
    *is_last = *p == ']';
    return *p == ',' || *p == ']' ? p + 1 : NULL;
}


/* Same as request_offset(), but inline for most offsets. */
static inline bool
add_offset(sym_tecken_t *t, int64_t index, uint64_t offset)
{
    return offset <= UINT32_MAX
               ? request_frame(t, FRAME_PLAIN, index, (uint32_t) offset)
               : request_offset(t, index, offset);
}


/* Reads a frame such as "[0,4096]"; -1 is the only negative number that is
 * allowed. */
static inline const char *
read_pair(const char *p, int64_t *index, uint64_t *offset, bool *is_minus)
{
    uint64_t number;
    bool is_none;

    if (*p != '[') {
        return NULL;
    }

    p = skip_space(p + 1);
    is_none = *p == '-';
    p = read_number(is_none ? p + 1 : p, &number);
    if (p == NULL || (is_none ? number != 1 : number >= FRAME_NO_MODULE)) {
        return NULL;
    }
    *index = is_none ? -1 : (int64_t) number;

    p = skip_space(p);
    if (*p != ',') {
        return NULL;
    }

    p = skip_space(p + 1);
    *is_minus = *p == '-';
    p = read_number(*is_minus ? p + 1 : p, offset);
    if (p == NULL || (*is_minus && *offset != 1)) {
        return NULL;
    }

    p = skip_space(p);
    return *p == ']' ? p + 1 : NULL;
}


static bool
end_stack(sym_tecken_t *t)
{
    const sym_request_limits_t *limits = &t->base.options->limits;
    direct_t *d = t->direct;
    uint32_t *stacks = t->request.stacks.items;

    stacks[t->request.stacks.n - 1] = d->n_frames;
    return limits->frames == 0
           || request_line_frames(&t->request) <= limits->frames;
}


static sym_status_t
read_frames(sym_tecken_t *t, uint32_t *budget)
{
    direct_t *d = t->direct;
    const char *p = d->pos;
    bool is_last = false, is_minus;
    uint64_t offset;
    int64_t index;

    while (!is_last && *budget > 0) {
        p = read_pair(skip_space(p), &index, &offset, &is_minus);
        if (p == NULL || (p = read_separator(p, &is_last)) == NULL) {
            return SYM_UNSUPPORTED;
        }

        if (!(is_minus ? request_frame(t, FRAME_MINUS, index, 0)
                       : add_offset(t, index, offset)))
        {
            return SYM_NOMEM;
        }

        if (index >= 0 && (uint64_t) index + 1 > d->max_index) {
            d->max_index = (uint64_t) index + 1;
        }
        d->n_frames++;
        --*budget;
    }

    d->pos = p;

    if (is_last) {
        if (!end_stack(t)) {
            return SYM_UNSUPPORTED;
        }
        p = read_separator(p, &is_last);
        d->pos = p;
        d->place = is_last ? AT_VALUE_END : AT_STACK;
        return p == NULL ? SYM_UNSUPPORTED : SYM_OK;
    }

    return SYM_OK;
}


static sym_status_t
read_stack(sym_tecken_t *t)
{
    const sym_request_limits_t *limits = &t->base.options->limits;
    direct_t *d = t->direct;
    const char *p = skip_space(d->pos);
    const job_t *job;
    bool is_last;

    if (*p != '[') {
        return SYM_UNSUPPORTED;
    }

    if (!request_stack(t)) {
        return SYM_NOMEM;
    }

    job = (const job_t *) t->request.jobs.items + t->request.jobs.n - 1;
    if (limits->stacks != 0 && job->n_stacks > limits->stacks) {
        return SYM_UNSUPPORTED;
    }

    d->n_frames = 0;
    d->place = AT_FRAME;
    d->pos = p = skip_space(p + 1);

    if (*p == ']') {
        d->pos = p = read_separator(p + 1, &is_last);
        d->place = is_last ? AT_VALUE_END : AT_STACK;
    }

    return p == NULL ? SYM_UNSUPPORTED : SYM_OK;
}


/* --- modules --- */

static sym_status_t
read_module(sym_tecken_t *t)
{
    const sym_request_limits_t *limits = &t->base.options->limits;
    direct_t *d = t->direct;
    const char *p = skip_space(d->pos);
    sym_str_t name, id;
    const job_t *job;
    bool is_last;

    if (*p != '['
        || (p = read_string(d, skip_space(p + 1), IN_NAME, &name)) == NULL
        || *(p = skip_space(p)) != ','
        || (p = read_string(d, skip_space(p + 1), IN_ID, &id)) == NULL
        || *(p = skip_space(p)) != ']'
        || (p = read_separator(p + 1, &is_last)) == NULL)
    {
        return SYM_UNSUPPORTED;
    }

    if (!request_entry(t, name, id)) {
        return SYM_NOMEM;
    }

    job = (const job_t *) t->request.jobs.items + t->request.jobs.n - 1;
    if (limits->modules != 0 && job->n_entries > limits->modules) {
        return SYM_UNSUPPORTED;
    }

    d->pos = p;
    d->place = is_last ? AT_VALUE_END : AT_MODULE;
    return SYM_OK;
}


/* --- objects --- */

static sym_status_t
begin_job(sym_tecken_t *t)
{
    const sym_request_limits_t *limits = &t->base.options->limits;
    direct_t *d = t->direct;

    if (!request_job(t)) {
        return SYM_NOMEM;
    }

    d->has_job = true;
    d->has_stacks = false;
    d->has_map = false;
    d->max_index = 0;

    return t->version == 5 && limits->jobs != 0
                   && request_line_jobs(&t->request) > limits->jobs
               ? SYM_UNSUPPORTED
               : SYM_OK;
}


static sym_status_t
read_job(sym_tecken_t *t)
{
    direct_t *d = t->direct;
    const char *p = skip_space(d->pos);

    if (*p != '{') {
        return SYM_UNSUPPORTED;
    }

    d->pos = p + 1;
    d->place = AT_KEY;
    d->is_first = true;
    d->in_jobs = true;
    return begin_job(t);
}


/* Begins a list: it is empty, or its first item is next. */
static sym_status_t
enter_list(direct_t *d, const char *p, place_t item, bool may_be_empty)
{
    if (*p != '[') {
        return SYM_UNSUPPORTED;
    }

    d->pos = skip_space(p + 1);
    d->place = item;

    if (*d->pos == ']') {
        d->pos++;
        d->place = AT_VALUE_END;
        return may_be_empty ? SYM_OK : SYM_UNSUPPORTED;
    }

    return SYM_OK;
}


/* Reads a key of a job, which may be the top level. */
static sym_status_t
read_job_value(sym_tecken_t *t, const char *p, place_t item, bool *has)
{
    direct_t *d = t->direct;
    sym_status_t rc = SYM_OK;

    if (d->has_jobs && !d->in_jobs) {
        return SYM_UNSUPPORTED;
    }

    if (!d->has_job) {
        rc = begin_job(t);
    }

    if (rc != SYM_OK || *has) {
        return rc != SYM_OK ? rc : SYM_UNSUPPORTED;
    }

    *has = true;
    return enter_list(d, p, item, item == AT_MODULE);
}


static sym_status_t
read_value(sym_tecken_t *t, sym_str_t key, const char *p)
{
    direct_t *d = t->direct;

    if (sym_str_eq(key, SYM_STR("stacks"))) {
        return read_job_value(t, p, AT_STACK, &d->has_stacks);
    }

    if (sym_str_eq(key, SYM_STR("memoryMap"))) {
        return read_job_value(t, p, AT_MODULE, &d->has_map);
    }

    if (sym_str_eq(key, SYM_STR("jobs")) && !d->in_jobs && t->version == 5) {
        if (d->has_jobs || d->has_job) {
            return SYM_UNSUPPORTED;
        }
        d->has_jobs = true;
        return enter_list(d, p, AT_JOB, true);
    }

    d->pos = sym_raw_value(p, d->end);
    d->place = AT_VALUE_END;
    return d->pos == NULL ? SYM_UNSUPPORTED : SYM_OK;
}


static bool
is_whole_job(const sym_tecken_t *t)
{
    const direct_t *d = t->direct;
    const job_t *jobs = t->request.jobs.items;

    return d->has_job && d->has_stacks && d->has_map
           && d->max_index <= jobs[t->request.jobs.n - 1].n_entries;
}


/* Handles the closing brace of an object. */
static sym_status_t
end_object(sym_tecken_t *t)
{
    direct_t *d = t->direct;
    bool is_last;

    if (!d->in_jobs) {
        d->place = AT_END;
        return d->pos == d->end + 1 && (d->has_jobs || is_whole_job(t))
                   ? SYM_OK
                   : SYM_UNSUPPORTED;
    }

    if (!is_whole_job(t) || d->pos > d->end) {
        return SYM_UNSUPPORTED;
    }

    d->pos = read_separator(d->pos, &is_last);
    d->place = is_last ? AT_VALUE_END : AT_JOB;
    d->in_jobs = false;
    return d->pos == NULL ? SYM_UNSUPPORTED : SYM_OK;
}


static sym_status_t
read_key(sym_tecken_t *t)
{
    direct_t *d = t->direct;
    const char *p = skip_space(d->pos);
    sym_str_t key;

    if (d->is_first && *p == '}') {
        d->pos = p + 1;
        return end_object(t);
    }

    d->is_first = false;

    p = read_string(d, p, IN_TEXT, &key);
    if (p == NULL || *(p = skip_space(p)) != ':') {
        return SYM_UNSUPPORTED;
    }

    return read_value(t, key, skip_space(p + 1));
}


static sym_status_t
read_value_end(sym_tecken_t *t)
{
    direct_t *d = t->direct;
    const char *p = skip_space(d->pos);

    d->pos = p + 1;

    if (*p == ',') {
        d->place = AT_KEY;
        return SYM_OK;
    }

    return *p == '}' ? end_object(t) : SYM_UNSUPPORTED;
}


/* --- the driver --- */

static sym_status_t
begin(sym_tecken_t *t)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    const char *p = t->text.data, *end = p + t->text.len;
    direct_t *d = sym_arena_calloc(t->base.arena, 1, sizeof(*d));

    if (d == NULL) {
        return SYM_NOMEM;
    }

    if (sym_str_starts(t->text, sym_cstr(byte_order_mark))) {
        p += sizeof(byte_order_mark) - 1;
    }

    while (end > p && strchr(" \t\r\n", end[-1]) != NULL && end[-1] != '\0') {
        end--;
    }

    if (end - p < 2 || end[-1] != '}') {
        return SYM_UNSUPPORTED;
    }

    p = skip_space(p);
    *d = (direct_t){ .pos = p + 1, .end = end - 1, .is_first = true };
    t->direct = d;
    return *p == '{' ? SYM_OK : SYM_UNSUPPORTED;
}


static sym_status_t
read_next(sym_tecken_t *t, uint32_t *budget)
{
    place_t place = t->direct->place;

    /* frames are counted separately */
    if (place == AT_FRAME) {
        return read_frames(t, budget);
    }

    --*budget;

    switch (place) {
    case AT_KEY:
        return read_key(t);
    case AT_JOB:
        return read_job(t);
    case AT_STACK:
        return read_stack(t);
    case AT_MODULE:
        return read_module(t);
    default:
        return read_value_end(t);
    }
}


sym_status_t
direct_read(sym_tecken_t *t, uint32_t *budget)
{
    sym_status_t rc = SYM_OK;

    if (t->direct == NULL) {
        rc = begin(t);
    }

    while (rc == SYM_OK && t->direct->place != AT_END) {
        if (*budget == 0) {
            return SYM_AGAIN;
        }
        rc = read_next(t, budget);
    }

    return rc;
}
