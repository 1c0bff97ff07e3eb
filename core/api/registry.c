#include "api/registry.h"

#include <strings.h>

/* Number of counters for an API: one for unmatched paths, and one for each
 * route. */
#define ENDPOINTS (SYM_API_ROUTES_MAX + 1)

#define POINTER(name) &sym_##name##_api,
const sym_api_t *const sym_apis[] = { SYM_APIS(POINTER) NULL };

#define COUNT(name) api_##name,
enum { SYM_APIS(COUNT) N_APIS };

_Static_assert(N_APIS *ENDPOINTS <= SYM_METRICS_ENDPOINTS,
               "counters for each API: raise SYM_METRICS_ENDPOINTS");


const sym_api_t *
sym_api_find(sym_str_t name)
{
    for (size_t i = 0; sym_apis[i] != NULL; i++) {
        if (sym_str_eq(sym_cstr(sym_apis[i]->name), name)) {
            return sym_apis[i];
        }
    }

    return NULL;
}


static unsigned
row_of(const sym_api_t *api)
{
    unsigned row = 0;

    while (sym_apis[row] != api) {
        row++;
    }

    return row;
}


/* --- what was requested --- */

/* Finds the route's suffix in a path that continues after it: the last
 * occurrence that begins in the location's base or directly after it. path.len:
 * none. */
static size_t
inner_suffix(const sym_api_route_t *route, const sym_api_location_t *location,
             sym_str_t path)
{
    const sym_str_t suffix = sym_cstr(route->suffix);
    size_t found = path.len;

    for (size_t i = 0; i + suffix.len <= path.len; i++) {
        if (location->has_base ? i > location->base.len : found != path.len) {
            break;
        }

        if (memcmp(path.data + i, suffix.data, suffix.len) == 0) {
            found = i;
        }
    }

    return found;
}


sym_str_t
sym_api_rest(const sym_api_route_t *route, const sym_api_location_t *location,
             sym_str_t path)
{
    size_t used = inner_suffix(route, location, path) + strlen(route->suffix);

    return sym_str(path.data + used, path.len - used);
}


static bool
takes_path(const sym_api_route_t *route, const sym_api_location_t *location,
           sym_str_t path)
{
    size_t len = strlen(route->suffix), before = path.len - len;

    if (route->is_root) {
        return location->is_root;
    }

    if (route->kind == SYM_ROUTE_UPLOAD) {
        return location->has_base;
    }

    if (route->kind == SYM_ROUTE_RESULT || route->kind == SYM_ROUTE_FILE) {
        return inner_suffix(route, location, path) != path.len;
    }

    return path.len >= len
           && memcmp(path.data + before, route->suffix, len) == 0
           && (location->has_base ? before <= location->base.len
                                  : !route->needs_base);
}


const sym_api_route_t *
sym_api_route(const sym_api_t *api, const sym_api_location_t *location,
              sym_str_t path)
{
    for (const sym_api_route_t *r = api->routes; r->suffix != NULL; r++) {
        if (takes_path(r, location, path)) {
            return r;
        }
    }

    return NULL;
}


/* Reduces "text/plain; charset=utf-8" to "text/plain". */
static sym_str_t
media_type(sym_str_t content_type)
{
    size_t len = 0;

    while (len < content_type.len && content_type.data[len] != ';'
           && content_type.data[len] != ' ' && content_type.data[len] != '\t')
    {
        len++;
    }

    return sym_str(content_type.data, len);
}


/* Whether the type is equal, or has the syntax of the type as suffix (RFC
 * 6839): "application/x+json" is JSON, too. */
static bool
is_type(sym_str_t type, sym_str_t wanted)
{
    const char *slash = memchr(wanted.data, '/', wanted.len);
    size_t top = (size_t) (slash - wanted.data) + 1, rest = wanted.len - top;

    if (type.len == wanted.len) {
        return strncasecmp(type.data, wanted.data, wanted.len) == 0;
    }

    return type.len > wanted.len + 1
           && strncasecmp(type.data, wanted.data, top) == 0
           && type.data[type.len - rest - 1] == '+'
           && strncasecmp(type.data + type.len - rest, slash + 1, rest) == 0;
}


bool
sym_api_accepts(const sym_api_route_t *route, sym_str_t content_type)
{
    sym_str_t type = media_type(content_type);

    return route->accepts == NULL || is_type(type, sym_cstr(route->accepts));
}


/* Whether the header contains the content type, ignoring case. */
static bool
names(sym_str_t accept, const char *content_type)
{
    sym_str_t type = media_type(sym_cstr(content_type));

    for (size_t i = 0; i + type.len <= accept.len; i++) {
        if (strncasecmp(accept.data + i, type.data, type.len) == 0) {
            return true;
        }
    }

    return false;
}


unsigned
sym_api_answer(const sym_api_t *api, sym_str_t accept)
{
    if (!names(accept, api->answers[0])) {
        for (unsigned i = 1; api->answers[i] != NULL; i++) {
            if (names(accept, api->answers[i])) {
                return i;
            }
        }
    }

    return 0;
}


sym_request_t *
sym_api_create(const sym_api_t *api, sym_arena_t *arena,
               const sym_request_options_t *options, const sym_api_call_t *call)
{
    const sym_api_route_t *route = call->route;
    sym_request_t *r =
        sym_request_create(arena, route->ops, options, call->body);

    if (r == NULL || (route->init != NULL && !route->init(r, call))) {
        return NULL;
    }

    r->cache_tag = (row_of(api) + 1) << SYM_REQUEST_FORM_BITS;
    return r;
}


/* --- counters --- */

/* Routes with the same version share the counters of the first one. */
static unsigned
place_of(const sym_api_t *api, const sym_api_route_t *route)
{
    unsigned i = 0;

    while (strcmp(api->routes[i].version, route->version) != 0) {
        i++;
    }

    return i;
}


unsigned
sym_api_endpoint(const sym_api_t *api, const sym_api_route_t *route)
{
    return row_of(api) * ENDPOINTS
           + (route != NULL ? 1 + place_of(api, route) : 0);
}


void
sym_api_endpoints(sym_metrics_endpoint_t *endpoints)
{
    memset(endpoints, 0, SYM_METRICS_ENDPOINTS * sizeof(*endpoints));

    for (size_t i = 0; sym_apis[i] != NULL; i++) {
        const sym_api_t *api = sym_apis[i];

        endpoints[sym_api_endpoint(api, NULL)] =
            (sym_metrics_endpoint_t){ api->name, NULL };

        for (const sym_api_route_t *r = api->routes; r->suffix != NULL; r++) {
            endpoints[sym_api_endpoint(api, r)] =
                (sym_metrics_endpoint_t){ api->name, r->version };
        }
    }
}
