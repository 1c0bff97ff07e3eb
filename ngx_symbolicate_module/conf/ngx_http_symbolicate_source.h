
/*
 * ngx_http_symbolicate_source.h - configured sources of symbol files.
 *
 * A location tries its sources in order; see docs/use/fetching.md.
 */

#ifndef _NGX_HTTP_SYMBOLICATE_SOURCE_H_INCLUDED_
#define _NGX_HTTP_SYMBOLICATE_SOURCE_H_INCLUDED_


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>

#include "protocol/message.h"
#include "sources/guard/deny_list.h"
#include "sources/paths/rules.h"
#include "sources/request/sources.h"


/* Maximum number of statuses in "absent=". */
#define NGX_SYMBOLICATE_ABSENT_MAX  8

/* Names of the counters of a fleet's bucket and peers; no source has them. */
#define NGX_SYMBOLICATE_SHARE_NAME  "share"
#define NGX_SYMBOLICATE_PEERS_NAME  "peers"

/* Number of lanes that all request sources share. */
#define NGX_SYMBOLICATE_REQUEST_SOURCE_LANES  16


typedef struct ngx_http_symbolicate_main_conf_s
    ngx_http_symbolicate_main_conf_t;


/* A source of symbol files, as the counters see it. */
typedef struct {
    ngx_str_t                      name;
    ngx_uint_t                     slot;        /* set after nginx has read its
                                                 * configuration */
    ngx_uint_t                     lane;        /* each name of a source has
                                                 * one */
    ngx_http_symbolicate_main_conf_t  *main;
} ngx_http_symbolicate_metric_t;


/* A host to which a source may redirect, and the location for that host. */
typedef struct {
    ngx_str_t                      host;        /* may include a port */
    ngx_str_t                      uri;         /* ends in a slash */
} ngx_http_symbolicate_redirect_t;


/* Sources of one request: request_sources/request_sources.c. */
typedef struct ngx_http_symbolicate_request_sources_s
    ngx_http_symbolicate_request_sources_t;

typedef struct ngx_http_symbolicate_index_s  ngx_http_symbolicate_index_t;

/* How files are requested: download/transport.h. */
typedef struct ngx_http_symbolicate_transport_s
    ngx_http_symbolicate_transport_t;


typedef struct {
    ngx_str_t                      name;
    ngx_str_t                      uri;         /* ends in a slash */
    const sym_request_source_t      *request_source;
                                                /* NULL: a configured one */
    const ngx_http_symbolicate_transport_t  *transport;
                                                /*
                                                 * NULL: requests to locations
                                                 */
    ngx_array_t                   *redirects;   /* NULL: redirects are not
                                                 * followed */
    sym_source_rules_t             rules;
    ngx_uint_t                     absent[NGX_SYMBOLICATE_ABSENT_MAX];
    ngx_uint_t                     nabsent;
    unsigned                       is_public:1;
    unsigned                       is_denied:1; /* the policy does not allow its
                                                 * type */
    unsigned                       has_index:1; /* only listed files are
                                                 * requested */
    ngx_http_symbolicate_index_t  *index;       /* this worker's index; NULL:
                                                 * not read yet */
    ngx_http_symbolicate_metric_t *metric;
    ngx_str_t                      conf_file;   /* where the configuration
                                                   defines it */
    ngx_uint_t                     conf_line;
} ngx_http_symbolicate_source_t;


/*
 * How the nodes of a fleet share artifacts.  Both are like sources: they have a
 * location, and counters.
 */
typedef struct {
    ngx_http_symbolicate_source_t  bucket;      /* no uri: none */
    ngx_http_symbolicate_source_t  peers;
    ngx_http_upstream_srv_conf_t  *nodes;       /* all nodes; NULL: they are
                                                 * not told of changes */
    ngx_str_t                      tell;        /* location for that; ends in a
                                                 * slash */
    ngx_msec_t                     bucket_away; /* it is not asked before this
                                                 * time of this worker; 0: it
                                                 * answers */
    ngx_msec_t                     warm;        /* limit of a warm start; 0: the
                                                 * fleet has no list */
    ngx_msec_t                     every;       /* how often uses are added to
                                                 * the list */
    unsigned                       no_conditions:1;  /* the bucket does not know
                                                      * If-None-Match */
} ngx_http_symbolicate_shared_t;


/* Settings of request sources. */
typedef struct {
    ngx_uint_t                     types;       /* a bit for each
                                                 * sym_request_source_type_t */
    ngx_str_t                      uri;         /* ends in a slash */
    ngx_str_t                      unverified;  /* same, without verification of
                                                 * certificates; or empty */
    ngx_array_t                   *roots;       /* ngx_str_t, NUL-terminated;
                                                 * NULL: none */
    ngx_array_t                   *allow;       /* ngx_cidr_t: reserved networks
                                                 * that are allowed; NULL:
                                                 * none */
    sym_url_t                      storage;     /* Google's */
    sym_url_t                      token;       /* exchanges keys for tokens of
                                                 * gcs sources */
    ngx_str_t                      audience;    /* same, as text */
    sym_deny_rules_t               deny;        /* when to block a host */
    ngx_str_t                      text;        /* text of the directive */
    ngx_http_symbolicate_metric_t *metrics[SYM_REQUEST_SOURCE_TYPES];
} ngx_http_symbolicate_request_sources_conf_t;


/* Settings of fetching for a location. */
typedef struct {
    ngx_array_t                   *sources;     /* in the order in which they
                                                 * are tried */
    ngx_http_symbolicate_request_sources_conf_t  *request_sources_conf;
                                                /* NULL: request sources are not
                                                 * allowed */
    ngx_http_symbolicate_request_sources_t  *request_sources;
                                                /* sources of the request; NULL:
                                                 * configured sources */
    void                         (*hold)(
                               ngx_http_symbolicate_request_sources_t *set);
    void                         (*release)(
                               ngx_http_symbolicate_request_sources_t *set);
                                                /* keeps or drops the request's
                                                 * sources */
    ngx_http_symbolicate_shared_t  *share;       /* NULL: artifacts are not
                                                 * shared */
    unsigned                       for_peers:1; /* other nodes wait for what is
                                                 * fetched */
    ngx_resolver_t                *resolver;    /* for these sources; NULL:
                                                 * none */
    ngx_msec_t                     resolver_timeout;
    ngx_http_symbolicate_source_t *links;       /* for source links; NULL: links
                                                 * are not followed */
    ngx_http_symbolicate_source_t *artifacts;   /* for Sentry's JavaScript
                                                 * artifacts; NULL: not
                                                 * requested */
    const struct ngx_http_symbolicate_store_conf_s  *store;
                                                /* store with bundles and path
                                                 * records */
    ngx_http_conf_ctx_t           *server;      /* address of the sources'
                                                 * locations */
    sym_rpc_ttl_t                 ttl;
    uint32_t                       ttl_public;  /* negative lifetime for public
                                                   sources */
    ngx_msec_t                     timeout;     /* limit for one download */
    size_t                         min_rate;    /* of the body, in bytes/s */
} ngx_http_symbolicate_fetch_policy_t;


/* Settings of a location for requests with missing modules. */
typedef enum {
    ngx_http_symbolicate_on_failure_503 = 0,
    ngx_http_symbolicate_on_failure_partial
} ngx_http_symbolicate_on_failure_e;


#endif /* _NGX_HTTP_SYMBOLICATE_SOURCE_H_INCLUDED_ */
