/*
 * The general reader: jansson checks the JSON, and this file checks the
 * request.  Messages and the order of checks are the same as in Mozilla's Eliot
 * (docs/use/compat.md).
 */
#include "api/tecken/readers.h"


#include "base/hex.h"
#include "api/tecken/numbers.h"
#include "api/tecken/value_text.h"
#include "json/load.h"

#define NO_JSON "Payload is not valid JSON"

/*
 * Maximum work on integers of more than 64 bits, in digits squared: enough for
 * 200 of the longest, about 20 ms.  The limit is needed because this reader
 * reads a request in one call.  Such a number is never an address, so no client
 * needs more of them.
 */
#define LONG_WORK_MAX ((uint64_t) 200 * NUMBER_DIGITS_MAX * NUMBER_DIGITS_MAX)

typedef struct {
    sym_tecken_t *t;
    numbers_t numbers;
    uint64_t long_work;
    size_t job; /* under way */
    size_t n_modules;
} general_t;

typedef struct {
    size_t stack, frame;
} where_t;


static sym_str_t
string_of(const json_t *value)
{
    return sym_str(json_string_value(value), json_string_length(value));
}


/* --- modules --- */

static sym_status_t
read_module(general_t *g, size_t m, const json_t *module)
{
    const json_t *name = json_array_get(module, 0);
    const json_t *id = json_array_get(module, 1);
    sym_str_t name_copy, id_copy;

    if (json_array_size(module) != 2) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid modules: module index %zu does not "
            "have a debug_filename and debug_id",
            g->job, m);
    }

    if (!json_is_string(name) || !name_is_valid(string_of(name))) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid modules: module index %zu has an "
            "invalid debug_filename",
            g->job, m);
    }

    if (!json_is_string(id) || !id_is_valid(string_of(id))) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid modules: module index %zu has an "
            "invalid debug_id",
            g->job, m);
    }

    name_copy = sym_arena_copy(g->t->base.arena, string_of(name));
    id_copy = sym_arena_copy(g->t->base.arena, string_of(id));
    return name_copy.data != NULL && id_copy.data != NULL
                   && request_entry(g->t, name_copy, id_copy)
               ? SYM_OK
               : SYM_NOMEM;
}


static sym_status_t
read_modules(general_t *g, const json_t *modules)
{
    uint32_t limit = g->t->base.options->limits.modules;

    if (!json_is_array(modules)) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid modules: modules must be a list", g->job);
    }

    g->n_modules = json_array_size(modules);
    if (limit != 0 && g->n_modules > limit) {
        return sym_request_refuse(
            &g->t->base, SYM_LIMIT,
            "please limit number of modules in a single job to <= %u", limit);
    }

    for (size_t m = 0; m < g->n_modules; m++) {
        sym_status_t status = read_module(g, m, json_array_get(modules, m));

        if (status != SYM_OK) {
            return status;
        }
    }

    return SYM_OK;
}


/* --- stacks --- */

static sym_status_t
refuse_frame(general_t *g, where_t at, const char *what)
{
    return sym_request_refuse(
        &g->t->base, SYM_MALFORMED,
        "job %zu has invalid stacks: stack %zu frame %zu %s", g->job, at.stack,
        at.frame, what);
}


/* Same as Python's isinstance(value, int): true and false are 1 and 0. */
static bool
small_integer(const json_t *value, json_int_t *n)
{
    if (json_is_boolean(value)) {
        *n = json_is_true(value) ? 1 : 0;
        return true;
    }

    *n = json_integer_value(value);
    return json_is_integer(value);
}


/* v4 repeats an offset that Mozilla's server could not parse as a number. */
static sym_status_t
read_odd_offset(general_t *g, where_t at, int64_t index, const json_t *offset)
{
    sym_str_t text;

    if (g->t->version != 4) {
        return refuse_frame(g, at, "has an invalid module_offset");
    }

    if (json_is_real(offset)) {
        text = value_number(&g->numbers, offset); /* a view of the body */
    } else if (json_is_string(offset)) {
        text = sym_arena_copy(g->t->base.arena, string_of(offset));
    } else {
        text = value_text(g->t->base.arena, &g->numbers, offset);
    }

    return text.data != NULL && request_text(g->t, FRAME_WHOLE, index, text)
               ? SYM_OK
               : SYM_NOMEM;
}


/* An integer too long for jansson was replaced by a marker. */
static sym_status_t
read_long_offset(general_t *g, where_t at, int64_t index, sym_str_t digits)
{
    sym_str_t text;
    uint64_t offset;

    if (digits.data[0] == '-') {
        return refuse_frame(g, at, "has an invalid module_offset");
    }

    if (sym_dec_read(digits, &offset)) {
        return request_offset(g->t, index, offset) ? SYM_OK : SYM_NOMEM;
    }

    g->long_work += (uint64_t) digits.len * digits.len;
    if (g->long_work > LONG_WORK_MAX) {
        return sym_request_refuse(
            &g->t->base, SYM_LIMIT,
            "please limit number of integers beyond 64 bits in a "
            "single request");
    }

    text = number_hex(g->t->base.arena, digits);
    return text.data != NULL && request_text(g->t, FRAME_TEXT, index, text)
               ? SYM_OK
               : SYM_NOMEM;
}


static sym_status_t
read_offset(general_t *g, where_t at, int64_t index, const json_t *offset)
{
    json_int_t n;
    bool is_added;

    if (!small_integer(offset, &n)) {
        if (json_is_real(offset)
            && number_is_integer(value_number(&g->numbers, offset)))
        {
            return read_long_offset(g, at, index,
                                    value_number(&g->numbers, offset));
        }
        return read_odd_offset(g, at, index, offset);
    }

    if (n < -1) {
        return refuse_frame(g, at, "has an invalid module_offset");
    }

    is_added = n == -1 ? request_frame(g->t, FRAME_MINUS, index, 0)
                       : request_offset(g->t, index, (uint64_t) n);
    return is_added ? SYM_OK : SYM_NOMEM;
}


static sym_status_t
read_frame(general_t *g, where_t at, const json_t *frame)
{
    const json_t *index = json_array_get(frame, 0);
    json_int_t n;

    if (json_array_size(frame) != 2) {
        return refuse_frame(g, at, "is not a list of two items");
    }

    if (!small_integer(index, &n)) {
        if (!json_is_real(index)
            || !number_is_integer(value_number(&g->numbers, index)))
        {
            return refuse_frame(g, at, "has an invalid module_index");
        }
        n = -2; /* the integer is too long for a module index */
    }

    if (n < -1 || (n >= 0 && (uint64_t) n >= g->n_modules)) {
        return refuse_frame(g, at, "has a module_index that isn't in modules");
    }

    return read_offset(g, at, n, json_array_get(frame, 1));
}


static sym_status_t
read_stack(general_t *g, size_t s, const json_t *stack)
{
    request_t *q = &g->t->request;
    uint32_t limit = g->t->base.options->limits.frames;
    size_t n = json_array_size(stack);

    if (!json_is_array(stack)) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid stacks: stack %zu is not a list", g->job, s);
    }

    if (limit != 0 && (n > limit || request_line_frames(q) > limit - n)) {
        return sym_request_refuse(
            &g->t->base, SYM_LIMIT,
            "please limit number of frames in a single request to "
            "<= %u",
            limit);
    }

    if (!request_stack(g->t)) {
        return SYM_NOMEM;
    }

    for (size_t f = 0; f < n; f++) {
        sym_status_t status =
            read_frame(g, (where_t){ s, f }, json_array_get(stack, f));

        if (status != SYM_OK) {
            return status;
        }
    }

    request_stack_end(g->t, (uint32_t) n);
    return SYM_OK;
}


static sym_status_t
read_stacks(general_t *g, const json_t *stacks)
{
    uint32_t limit = g->t->base.options->limits.stacks;
    size_t n = json_array_size(stacks);

    if (!json_is_array(stacks)) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid stacks: stacks must be a list of "
            "lists",
            g->job);
    }

    if (n == 0) {
        return sym_request_refuse(
            &g->t->base, SYM_MALFORMED,
            "job %zu has invalid stacks: no stacks specified", g->job);
    }

    if (limit != 0 && n > limit) {
        return sym_request_refuse(
            &g->t->base, SYM_LIMIT,
            "please limit number of stacks in a single job to <= %u", limit);
    }

    for (size_t s = 0; s < n; s++) {
        sym_status_t status = read_stack(g, s, json_array_get(stacks, s));

        if (status != SYM_OK) {
            return status;
        }
    }

    return SYM_OK;
}


/* --- jobs --- */

static sym_status_t
read_job(general_t *g, const json_t *job)
{
    const json_t *stacks = json_object_get(job, "stacks");
    const json_t *modules = json_object_get(job, "memoryMap");
    sym_status_t status;

    if (!json_is_object(job)) {
        return sym_request_refuse(&g->t->base, SYM_MALFORMED,
                                  "job %zu is invalid", g->job);
    }

    if (stacks == NULL) {
        return sym_request_refuse(&g->t->base, SYM_MALFORMED,
                                  "job %zu is invalid: no stacks specified",
                                  g->job);
    }

    if (modules == NULL) {
        return sym_request_refuse(&g->t->base, SYM_MALFORMED,
                                  "job %zu is invalid: no memoryMap specified",
                                  g->job);
    }

    if (!request_job(g->t)) {
        return SYM_NOMEM;
    }

    status = read_modules(g, modules);
    return status == SYM_OK ? read_stacks(g, stacks) : status;
}


/* Python's len() of a value that can be iterated; jobs need not be a list. */
static size_t
count_jobs(const json_t *jobs)
{
    sym_str_t text;
    size_t n = 0;

    if (json_is_array(jobs)) {
        return json_array_size(jobs);
    }

    if (json_is_object(jobs)) {
        return json_object_size(jobs);
    }

    if (!json_is_string(jobs)) {
        return 1;
    }

    text = string_of(jobs);
    for (size_t i = 0; i < text.len; i++) {
        n += (text.data[i] & 0xc0) != 0x80; /* code points */
    }

    return n;
}


static sym_status_t
read_jobs(general_t *g, const json_t *jobs)
{
    uint32_t limit = g->t->base.options->limits.jobs;
    size_t n = count_jobs(jobs);

    if (limit != 0 && n > limit) {
        return sym_request_refuse(
            &g->t->base, SYM_LIMIT,
            "please limit number of jobs in a single request to <= "
            "%u",
            limit);
    }

    for (g->job = 0; g->job < n; g->job++) {
        /* NULL if jobs is not a list; it is then not an object, either */
        sym_status_t status = read_job(g, json_array_get(jobs, g->job));

        if (status != SYM_OK) {
            return status;
        }
    }

    return SYM_OK;
}


static sym_status_t
read_payload(general_t *g, const json_t *payload)
{
    const json_t *jobs = json_object_get(payload, "jobs");

    return g->t->version == 5 && jobs != NULL ? read_jobs(g, jobs)
                                              : read_job(g, payload);
}


static sym_status_t
refuse_size(general_t *g)
{
    return sym_request_refuse(
        &g->t->base, SYM_LIMIT,
        "please send the usual form: a request of another form is limited to "
        "%zu bytes, %zu keys and %zu bytes of memory",
        SYM_JSON_BYTES_MAX, SYM_JSON_KEYS_MAX, SYM_JSON_MEMORY_MAX);
}


/* Parses the body into jansson's tree, or sets the error. */
static sym_status_t
load(general_t *g, sym_str_t body, sym_json_t *json)
{
    sym_error_t err = { 0 };
    sym_status_t status = SYM_LIMIT;

    *json = (sym_json_t){ 0 };

    if (body.len <= SYM_JSON_BYTES_MAX) {
        status = numbers_replace(&g->numbers, g->t->base.arena->account, body);
    }

    if (status == SYM_OK) {
        status = sym_json_load_charged(json, g->t->base.arena->account,
                                       sym_str(g->numbers.text, g->numbers.len),
                                       JSON_DECODE_ANY | JSON_ALLOW_NUL,
                                       NO_JSON, &err);
    }

    if (status == SYM_MALFORMED) {
        g->t->base.message = SYM_STR(NO_JSON);
    }

    return status == SYM_LIMIT ? refuse_size(g) : status;
}


sym_status_t
general_read(sym_tecken_t *t)
{
    general_t g = { .t = t };
    sym_str_t body = t->text;
    sym_json_t json;
    sym_status_t status;

    request_rewind(t);

    if (sym_str_starts(body, SYM_STR("\xef\xbb\xbf"))) {
        body.data += 3;
        body.len -= 3;
    }

    status = load(&g, body, &json);
    if (status == SYM_OK) {
        status = read_payload(&g, json.root);
    }

    sym_json_drop(&json);
    numbers_free(&g.numbers);
    return status;
}
