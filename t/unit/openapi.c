/*
 * docs/use/openapi.json describes every route of the table of APIs, with its
 * methods and content types, and no other; but for uploads, whose protocols are
 * those of other servers (docs/use/uploads.md).  t/openapi.t checks a server's
 * answers to each.
 */
#include <jansson.h>

#include "api/registry.h"

#include "tap.h"

static const struct {
    const char *name;
    unsigned bit;
} methods[] = { { "get", SYM_METHOD_GET },
                { "post", SYM_METHOD_POST },
                { "head", SYM_METHOD_HEAD } };

static const json_t *document;


/* The target of a "$ref", or the object itself. */
static const json_t *
resolved(const json_t *thing)
{
    const char *ref = json_string_value(json_object_get(thing, "$ref"));
    const json_t *found = document;
    char part[64];
    int used;

    if (ref == NULL) {
        return thing;
    }

    for (ref += 1; sscanf(ref, "/%63[^/]%n", part, &used) == 1; ref += used) {
        found = json_object_get(found, part);
    }

    return resolved(found);
}


/* Member of the operation in the document's path; NULL: not of this API. */
static const json_t *
operation_of(const sym_api_t *api, const json_t *item, const char *method)
{
    const json_t *operation = json_object_get(resolved(item), method);
    const char *tag = json_string_value(
        json_array_get(json_object_get(operation, "tags"), 0));

    return tag != NULL && strcmp(tag, api->name) == 0 ? operation : NULL;
}


static bool
is_of(const sym_api_t *api, const json_t *item)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (operation_of(api, item, methods[i].name) != NULL) {
            return true;
        }
    }

    return false;
}


/* The route of a path, with parameters as names in braces. */
static const sym_api_route_t *
route_of(const sym_api_t *api, const char *path)
{
    const sym_api_location_t root = { .has_base = true,
                                      .is_root = strcmp(path, "/") == 0,
                                      .base = SYM_STR("") };
    sym_api_location_t location = root;
    const sym_api_route_t *route = sym_api_route(api, &root, sym_cstr(path));

    if (route == NULL) {
        /* an API may serve its location's own path */
        location.base = sym_cstr(path);
        route = sym_api_route(api, &location, sym_cstr(path));
    }

    return route;
}


static unsigned
methods_of(const sym_api_t *api, const json_t *item)
{
    unsigned found = 0;

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (operation_of(api, item, methods[i].name) != NULL) {
            found |= methods[i].bit;
        }
    }

    return found;
}


/* Whether the responses' content types are those of the route, or of its API. */
static bool
has_types(const sym_api_t *api, const sym_api_route_t *route,
          const json_t *operation)
{
    const json_t *answer = resolved(
        json_object_get(json_object_get(operation, "responses"), "200"));
    const json_t *types = json_object_get(answer, "content");
    size_t n = 0;

    if (route->answer != NULL) {
        return json_object_size(types) == 1
               && json_object_get(types, route->answer) != NULL;
    }

    for (; api->answers[n] != NULL; n++) {
        if (json_object_get(types, api->answers[n]) == NULL) {
            return false;
        }
    }

    if (route->other_answer != NULL) {
        n += json_object_get(types, route->other_answer) != NULL;
    }

    return n == json_object_size(types);
}


static bool
has_status(const json_t *item, const char *method, unsigned status)
{
    const json_t *operation = json_object_get(resolved(item), method);
    const json_t *responses = json_object_get(operation, "responses");
    char text[12];

    snprintf(text, sizeof(text), "%u", status);
    return operation == NULL
           || (json_object_size(responses) == 1
               && json_object_get(responses, text) != NULL);
}


static void
test_path(const sym_api_t *api, const char *path, const json_t *item)
{
    const sym_api_route_t *route = route_of(api, path);
    const json_t *post = operation_of(api, item, "post");

    ok(route != NULL, "%s: %s is a route", api->name, path);
    if (route == NULL) {
        return;
    }

    ok(methods_of(api, item) == route->methods, "... of these methods");

    if (route->kind == SYM_ROUTE_TEXT) {
        ok(has_status(item, "get", route->status)
               && has_status(item, "post", route->status)
               && has_status(item, "head", route->status),
           "... that always has this status");
    }

    if (route->kind == SYM_ROUTE_REQUEST) {
        const json_t *body = resolved(json_object_get(post, "requestBody"));
        const json_t *types = json_object_get(body, "content");

        ok(has_types(api, route,
                     post != NULL ? post : operation_of(api, item, "get")),
           "... with these content types");
        ok(route->accepts == NULL
               || (json_object_size(types) == 1
                   && json_object_get(types, route->accepts) != NULL),
           "... for bodies of this content type");
    }
}


/* Routes of requests have synonyms; documenting one of them is enough. */
static bool
is_described(const sym_api_t *api, const sym_api_route_t *route)
{
    const char *path;
    json_t *item;

    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        const sym_api_route_t *found =
            is_of(api, item) ? route_of(api, path) : NULL;

        if (found == route
            || (found != NULL && route->kind == SYM_ROUTE_REQUEST
                && found->kind == SYM_ROUTE_REQUEST
                && strcmp(found->version, route->version) == 0))
        {
            return true;
        }
    }

    return false;
}


static void
test_api(const sym_api_t *api)
{
    const char *path;
    json_t *item;

    json_object_foreach(json_object_get(document, "paths"), path, item)
    {
        if (is_of(api, item)) {
            test_path(api, path, item);
        }
    }

    for (const sym_api_route_t *r = api->routes; r->suffix != NULL; r++) {
        ok(r->kind == SYM_ROUTE_UPLOAD || is_described(api, r),
           "%s: the document has \"%s\"", api->name, r->suffix);
    }
}


int
main(void)
{
    json_error_t err;
    json_t *root =
        json_load_file("docs/use/openapi.json", JSON_REJECT_DUPLICATES, &err);

    ok(root != NULL, "docs/use/openapi.json can be read: %s line %d",
       root != NULL ? "" : err.text, root != NULL ? 0 : err.line);
    document = root;

    for (size_t i = 0; root != NULL && sym_apis[i] != NULL; i++) {
        test_api(sym_apis[i]);
    }

    json_decref(root);
    return done_testing();
}
