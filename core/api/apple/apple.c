#include "api/apple/apple.h"

#include "api/sentry/any.h"
#include "api/sentry/http.h"
#include "base/multipart.h"
#include "json/out.h"

#define HTTP_BAD_REQUEST 400
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

#define HTTP_TOO_LARGE 413

/* Symbolicator's limit for a JSON part. */
#define PART_MAX ((size_t) 1 << 20)

/* Length of the longest JSON escape, "\u0000". */
#define ESCAPE_MAX 6

/* --- the form --- */

static sym_status_t
refuse(apple_t *a, const char *what)
{
    a->sentry.base.refused_as = HTTP_BAD_REQUEST;
    return sym_request_refuse(&a->sentry.base, SYM_MALFORMED, "%s", what);
}


/* Parts with other names are ignored. */
static sym_status_t
take_part(apple_t *a, const sym_multipart_part_t *part,
          sym_str_t json[SENTRY_PARTS])
{
    sentry_t *s = &a->sentry;

    for (unsigned i = 0; i < SENTRY_PARTS; i++) {
        if (i == SENTRY_PART_REWRITE
            || !sym_str_eq(part->name, sentry_parts[i])) {
            continue;
        }

        if (part->body.len > PART_MAX) {
            s->base.refused_as = HTTP_TOO_LARGE;
            return sym_request_refuse(&s->base, SYM_LIMIT,
                                      "the field `%s` has more than 1 MiB",
                                      sentry_parts[i].data);
        }

        json[i] = part->body;
    }

    if (sym_str_eq(part->name, SYM_STR("apple_crash_report"))) {
        a->report = part->body;
    }

    return SYM_OK;
}


static sym_status_t
read_form(apple_t *a)
{
    sym_str_t json[SENTRY_PARTS] = { { NULL, 0 } };
    sym_multipart_part_t part;
    sym_multipart_t form;
    sym_status_t rc;

    if (!sym_multipart_begin(&form, sym_multipart_boundary(a->content_type),
                             a->sentry.base.body))
    {
        return refuse(a, form.what);
    }

    while ((rc = sym_multipart_next(&form, &part)) == SYM_OK) {
        rc = take_part(a, &part, json);
        if (rc != SYM_OK) {
            return rc;
        }
    }

    if (rc == SYM_MALFORMED) {
        return refuse(a, form.what);
    }

    if (a->report.data == NULL) {
        return refuse(a, "missing apple crash report");
    }

    return sentry_read_form(&a->sentry, json);
}


static sym_status_t
take_report(apple_t *a)
{
    sym_status_t rc = SYM_OK;

    if (a->linked == NULL) {
        rc = read_form(a);
    } else {
        sentry_go_on(&a->sentry, a->linked);
        a->report = a->sentry.base.body;
        a->is_failed = a->failure.len != 0;
    }

    a->is_json = apple_is_ips(a->report);
    return rc;
}


/* --- parts of the report --- */

sym_status_t
apple_add_stack(apple_t *a, uint64_t id, sym_str_t name, bool is_crashed,
                sentry_stack_t **stack)
{
    sentry_t *s = &a->sentry;
    sym_status_t rc =
        sentry_check_limit(s, s->request.n_stacks + UINT64_C(1),
                           s->base.options->limits.stacks, "threads");

    if (rc != SYM_OK) {
        return rc;
    }

    *stack = sentry_add_stack(s);
    if (*stack == NULL) {
        return SYM_NOMEM;
    }

    (*stack)->has_thread_id = true;
    (*stack)->thread_id = id;
    (*stack)->thread_name = name.len != 0 ? name : sym_str(NULL, 0);
    (*stack)->has_requesting = true;
    (*stack)->is_requesting = is_crashed;
    return SYM_OK;
}


sym_str_t
apple_json(apple_t *a, sym_str_t text)
{
    size_t room = ESCAPE_MAX * text.len + 2;
    char *json = sym_arena_alloc(a->sentry.base.arena, room);
    sym_out_t out;

    if (json == NULL) {
        return sym_str(NULL, 0);
    }

    out = sym_out_fixed(json, room);
    sym_out_string(&out, text);
    return sym_str(json, (size_t) (out.pos - json));
}


sym_status_t
apple_add_frame(apple_t *a, uint64_t addr, sym_str_t package,
                sentry_frame_t **frame)
{
    sentry_t *s = &a->sentry;
    sym_status_t rc =
        sentry_check_limit(s, s->request.n_frames + UINT64_C(1),
                           s->base.options->limits.frames, "frames");

    if (rc != SYM_OK) {
        return rc;
    }

    *frame = sentry_add_frame(s);
    if (*frame == NULL) {
        return SYM_NOMEM;
    }

    (*frame)->addr = addr;
    return package.data == NULL
                   || sentry_add_field(s, *frame, SENTRY_PACKAGE, package)
               ? SYM_OK
               : SYM_NOMEM;
}


sym_status_t
apple_add_image(apple_t *a, const apple_image_t *image)
{
    sentry_t *s = &a->sentry;
    sym_status_t rc =
        sentry_check_limit(s, s->request.n_modules + UINT64_C(1),
                           s->base.options->limits.modules, "images");
    sentry_module_t *m;

    if (rc != SYM_OK) {
        return rc;
    }

    m = sentry_add_module(s);
    if (m == NULL) {
        return SYM_NOMEM;
    }

    if (!sym_debug_id_read_uuid(image->uuid, &m->ref.debug_id)
        || !sym_code_id_read(image->uuid, &m->ref.code_id))
    {
        return SYM_MALFORMED;
    }

    m->ref.type = SYM_OBJECT_MACHO;
    m->code_file = m->debug_file = image->path;
    m->addr = image->start;
    m->size = image->size;
    m->has_size = true;
    return SYM_OK;
}


/* --- the request --- */

static sym_status_t
read_report(apple_t *a, uint32_t budget)
{
    sentry_t *s = &a->sentry;
    sym_status_t rc = a->is_failed ? SYM_OK
                      : a->is_json ? apple_read_ips(a, budget)
                                   : apple_read_text(a, budget);

    if (a->is_failed) {
        s->request.n_stacks = s->request.n_frames = s->request.n_modules = 0;
        rc = SYM_OK;
    }

    return rc != SYM_OK ? rc : sentry_sort_modules(s);
}


static sym_status_t
parse(sym_request_t *r, uint32_t budget)
{
    apple_t *a = (apple_t *) r;
    sym_status_t rc = a->is_begun ? SYM_OK : take_report(a);

    if (rc == SYM_OK && !a->is_begun) {
        a->is_begun = true;
        a->sentry.write_crash = apple_write_facts;
        return SYM_AGAIN;
    }

    if (rc == SYM_OK && !a->is_read) {
        rc = read_report(a, budget);
        a->is_read = rc == SYM_OK;
    }

    return rc != SYM_OK ? rc : sentry_find_needs(&a->sentry, budget);
}


static sym_status_t
begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    const apple_t *a = (const apple_t *) r;

    if (!a->is_failed) {
        return sentry_begin(r, out, budget);
    }

    sym_out_raw(out, SYM_STR("{\"status\": \"failed\", \"message\": "));
    sym_out_string(out, a->failure.len != 0
                            ? a->failure
                            : SYM_STR("failed to parse apple crash report"));
    sym_out_raw(out, SYM_STR("}"));
    r->step = NULL;
    return SYM_OK;
}


bool
apple_init(sym_request_t *r, const sym_api_call_t *call)
{
    apple_t *a = (apple_t *) r;
    sym_str_t type = call->header(call->ctx, "content-type");

    a->sentry.scope = sentry_read_scope(r->arena, call->query);
    a->content_type = sym_arena_copy(r->arena, type);
    a->linked = call->linked;
    a->failure = call->failure;
    return a->sentry.scope.data != NULL
           && (type.len == 0 || a->content_type.data != NULL);
}


const sym_request_ops_t apple_ops = {
    .size = sizeof(apple_t),
    .parse = parse,
    .begin = begin,
    .resume = sentry_resume,
    .count_frames = sentry_count_frames,
};
