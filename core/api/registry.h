/*
 * registry.h - the table of APIs.
 *
 * An API is a folder core/api/NAME/ that defines sym_NAME_api, and a row of
 * list.h. The server only uses this table.  "symbolicate NAME;" looks up a name
 * in it, and paths are matched against the routes.  Counters are labelled by
 * API and version, and texts in the cache of rendered answers are tagged with
 * the row.  docs/design/adding.md shows how to add an API.
 *
 * The table is constant; only APIs allocate memory.
 */
#ifndef SYM_API_REGISTRY_H
#define SYM_API_REGISTRY_H

#include "api/file_names.h"
#include "api/file_request.h"
#include "api/list.h"
#include "api/request.h"
#include "base/rewrite.h"
#include "metrics/counters.h"

/* Same bits as in nginx. */
typedef enum {
    SYM_METHOD_GET = 2,
    SYM_METHOD_HEAD = 4,
    SYM_METHOD_POST = 8,
    SYM_METHOD_PUT = 16
} sym_method_t;

typedef struct sym_api_route_s sym_api_route_t;

/* A client's request; sym_request_options_t contains the server's settings. */
typedef struct {
    const sym_api_route_t *route;
    unsigned answer; /* index in answers[] */
    bool is_query;   /* it is a GET, and the body is its query */
    sym_str_t body;  /* stays in place until the request ends */
    sym_str_t query; /* text after '?', for any method */
    /* used with is_upload: reads the uploaded body; `body` is its report */
    bool (*read)(void *file, uint64_t at, void *to, size_t len);
    void *file;
    /* The request whose `link` led to this body; NULL: a client sent the
     * body. */
    const sym_request_t *linked;
    /* sym_rewrite(), if PCRE2 is linked; NULL: names are not rewritten. */
    sym_rewrite_pt rewrite;
    sym_str_t failure; /* why there is no body from the link, or "" */
    /* Returns a header's value as sent; data NULL: absent.  Call it only during
     * init(). */
    sym_str_t (*header)(void *ctx, const char *name);
    void *ctx;
} sym_api_call_t;

/* Kinds of routes.  The server has a handler for each kind. */
typedef enum {
    SYM_ROUTE_REQUEST, /* calls init(), then parses and answers */
    SYM_ROUTE_TEXT,    /* always the same status and text */
    SYM_ROUTE_RESULT,  /* the result of a request that outlived its client; its
                         id follows the suffix */
    SYM_ROUTE_UPLOAD,  /* uploads of files to the loader: every path below the
                         location */
    SYM_ROUTE_FILE     /* a symbol file; its path follows the suffix */
} sym_route_kind_t;

/* A path below a location. */
struct sym_api_route_s {
    const char *suffix;  /* end of the path; NULL ends the list */
    const char *version; /* label of the counters; synonyms share it */
    unsigned methods;    /* bits of sym_method_t */
    const char *accepts; /* media type required for a POST; NULL: any */
    bool is_root;        /* matches only in "location = /" */
    bool needs_base;     /* does not match if the location is a regular
                            expression */
    sym_route_kind_t kind;
    bool needs_proxy; /* not found while symbolicate_proxy is off */
    bool is_upload;   /* the body may be large: it stays in a file, the loader
                       makes a report from it, and the report becomes the
                       request's body */
    bool is_stream;   /* the body has any length.  Each line is a request of its
                       own; complete lines are parsed and answered while others
                       arrive */
    bool takes_gzip;  /* the body itself may be gzip */
    const char *answer;           /* content type; NULL: a content type of the
                                     API */
    const char *other_answer;     /* content type that a request may set, by its
                                     body (answer_type); NULL: none */
    const sym_request_ops_t *ops; /* for SYM_ROUTE_REQUEST */
    /* Copies the parts of the call that the request needs in addition to its
     * body.  NULL: none.  False: out of memory. */
    bool (*init)(sym_request_t *r, const sym_api_call_t *call);
    /* For SYM_ROUTE_FILE: parses a path into a file request, which contains
     * views of path and query; false: not a path of a file. */
    bool (*read_file)(sym_str_t path, sym_str_t query,
                      sym_file_request_t *request);
    /* for SYM_ROUTE_FILE: if a file could not be fetched, the connection is
     * reset, because clients take every error status for absence */
    bool cuts_failures;
    /* for SYM_ROUTE_FILE: returns the text of a 404, as text/html; NULL, or
     * returns NULL: it is an error of the API.  Routes that have it send
     * Debug-Time, too. */
    const char *(*absent)(sym_str_t path);
    /* For SYM_ROUTE_FILE with SYM_MAKE_NAME: writes JSON for a module; base is
     * the URL before the suffix.  NULL: the client is redirected to the path
     * with the debug id. */
    void (*write_names)(const sym_file_names_t *names, sym_str_t base,
                        bool is_try, sym_out_t *out);
    unsigned status;  /* for SYM_ROUTE_TEXT */
    const char *text; /* body for SYM_ROUTE_TEXT */
};

#define SYM_API_ROUTES_MAX 15
#define SYM_API_ANSWERS_MAX 3

/* An error response of the server. */
typedef struct {
    unsigned status;        /* HTTP's */
    sym_str_t title;        /* such as "400 Bad Request", or the reason */
    sym_str_t description;  /* details, or empty */
    sym_str_t method, path; /* of the request */
} sym_api_error_t;

/* How long a client waits for its answer. */
typedef struct {
    bool has_timeout; /* false: it waits until the answer is ready */
    uint64_t timeout_s;
    sym_str_t scope; /* from the query, encoded: on whose behalf the client
                        sends the request */
} sym_api_wait_t;

typedef struct {
    const char *name; /* name in "symbolicate NAME;", and label of counters */
    sym_api_route_t routes[SYM_API_ROUTES_MAX + 1];
    /* Content types of answers.  The first is the default. */
    const char *answers[SYM_API_ANSWERS_MAX + 1];
    /* Writes the body of an error, and returns its content type.  Writes at
     * most six bytes for each byte of its texts, and 64 more.  NULL, or returns
     * NULL: {"title", "description"}. */
    const char *(*write_error)(const sym_api_error_t *error, sym_out_t *out);
    /* Reads the query of a request that may outlive its client; false: *refusal
     * is the error message.  NULL: requests always end with their clients. */
    bool (*read_wait)(sym_str_t query, sym_api_wait_t *wait,
                      const char **refusal);
    /* The answer itself reports modules that could not be fetched, so they do
     * not cause an error.  This is also true for every stream. */
    bool tells_failures;
    /* Other nodes of the fleet wait for its answers, so it must not wait for
     * them. */
    bool is_for_peers;
    /* Not available to scripts of other sites: CORS headers are never sent. */
    bool is_same_site;
    /* With is_same_site: they are sent if the location itself asks for them. */
    bool may_have_cors;
} sym_api_t;

#define SYM_API_DECLARE(name) extern const sym_api_t sym_##name##_api;
SYM_APIS(SYM_API_DECLARE)
#undef SYM_API_DECLARE

/* NULL-terminated. */
extern const sym_api_t *const sym_apis[];

/* NULL: no API has that name. */
const sym_api_t *sym_api_find(sym_str_t name);

/* Location of a request in the configuration. */
typedef struct {
    bool has_base;  /* false: the location is a regular expression */
    bool is_root;   /* "= /" */
    sym_str_t base; /* path of the location, without a slash at the end */
} sym_api_location_t;

/*
 * Finds the route of a path, which consists of the location's base and the
 * route's suffix.  The base itself may end in the suffix, or in the beginning
 * of the suffix.  If the location is a regular expression, anything may precede
 * the suffix.  NULL: the API does not have that path.
 */
const sym_api_route_t *sym_api_route(const sym_api_t *api,
                                     const sym_api_location_t *location,
                                     sym_str_t path);

/* Returns the rest of a path after the route's suffix. */
sym_str_t sym_api_rest(const sym_api_route_t *route,
                       const sym_api_location_t *location, sym_str_t path);

/* Whether the route accepts a POST of this Content-Type (data NULL: absent). */
bool sym_api_accepts(const sym_api_route_t *route, sym_str_t content_type);

/* Returns the index of the content type for an Accept header. */
unsigned sym_api_answer(const sym_api_t *api, sym_str_t accept);

/* Creates the request for a call to a SYM_ROUTE_REQUEST of the API, with the
 * API's tag for the cache of answers.  NULL: out of memory. */
sym_request_t *sym_api_create(const sym_api_t *api, sym_arena_t *arena,
                              const sym_request_options_t *options,
                              const sym_api_call_t *call);

/* Returns the index of a route's counters; route NULL: those of unmatched
 * requests. */
unsigned sym_api_endpoint(const sym_api_t *api, const sym_api_route_t *route);

/* Sets the labels of all SYM_METRICS_ENDPOINTS. */
void sym_api_endpoints(sym_metrics_endpoint_t *endpoints);

#endif
