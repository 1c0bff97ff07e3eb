
/*
 * ngx_http_floor_module.c - the minimal cost of an answer over HTTP.
 *
 * "floor;" in a location reads the whole request body into memory, ignores it,
 * and answers with as many bytes as the argument "bytes" of the URL says.  The
 * benchmark requests answers as long as the real ones, so that the difference
 * of the two rates is the cost of symbolication.
 */


#include <ngx_config.h>
#include <ngx_core.h>
#include <ngx_http.h>


#define NGX_HTTP_FLOOR_MAX  (64 * 1024 * 1024)


static char *ngx_http_floor(ngx_conf_t *cf, ngx_command_t *cmd, void *conf);
static ngx_int_t ngx_http_floor_handler(ngx_http_request_t *r);
static void ngx_http_floor_answer(ngx_http_request_t *r);
static ngx_int_t ngx_http_floor_send(ngx_http_request_t *r);
static ngx_int_t ngx_http_floor_init_process(ngx_cycle_t *cycle);


static ngx_command_t  ngx_http_floor_commands[] = {

    { ngx_string("floor"),
      NGX_HTTP_LOC_CONF|NGX_CONF_NOARGS,
      ngx_http_floor,
      0,
      0,
      NULL },

      ngx_null_command
};


static ngx_http_module_t  ngx_http_floor_module_ctx = {
    NULL,                          /* preconfiguration */
    NULL,                          /* postconfiguration */

    NULL,                          /* create main configuration */
    NULL,                          /* init main configuration */

    NULL,                          /* create server configuration */
    NULL,                          /* merge server configuration */

    NULL,                          /* create location configuration */
    NULL                           /* merge location configuration */
};


ngx_module_t  ngx_http_floor_module = {
    NGX_MODULE_V1,
    &ngx_http_floor_module_ctx,    /* module context */
    ngx_http_floor_commands,       /* module directives */
    NGX_HTTP_MODULE,               /* module type */
    NULL,                          /* init master */
    NULL,                          /* init module */
    ngx_http_floor_init_process,   /* init process */
    NULL,                          /* init thread */
    NULL,                          /* exit thread */
    NULL,                          /* exit process */
    NULL,                          /* exit master */
    NGX_MODULE_V1_PADDING
};


static ngx_str_t  ngx_http_floor_type = ngx_string("application/json");
static u_char    *ngx_http_floor_bytes;


static char *
ngx_http_floor(ngx_conf_t *cf, ngx_command_t *cmd, void *conf)
{
    ngx_http_core_loc_conf_t  *clcf;

    clcf = ngx_http_conf_get_module_loc_conf(cf, ngx_http_core_module);
    clcf->handler = ngx_http_floor_handler;

    return NGX_CONF_OK;
}


/* The bytes of all answers, written once, so that the pages are resident. */

static ngx_int_t
ngx_http_floor_init_process(ngx_cycle_t *cycle)
{
    ngx_http_floor_bytes = ngx_palloc(cycle->pool, NGX_HTTP_FLOOR_MAX);
    if (ngx_http_floor_bytes == NULL) {
        return NGX_ERROR;
    }

    ngx_memset(ngx_http_floor_bytes, ' ', NGX_HTTP_FLOOR_MAX);

    return NGX_OK;
}


static ngx_int_t
ngx_http_floor_handler(ngx_http_request_t *r)
{
    ngx_int_t  rc;

    if (r->method != NGX_HTTP_POST) {
        return NGX_HTTP_NOT_ALLOWED;
    }

    r->request_body_in_single_buf = 1;

    rc = ngx_http_read_client_request_body(r, ngx_http_floor_answer);

    return rc >= NGX_HTTP_SPECIAL_RESPONSE ? rc : NGX_DONE;
}


static void
ngx_http_floor_answer(ngx_http_request_t *r)
{
    ngx_http_finalize_request(r, ngx_http_floor_send(r));
}


static ngx_int_t
ngx_http_floor_send(ngx_http_request_t *r)
{
    ngx_int_t    rc, n;
    ngx_buf_t   *b;
    ngx_str_t    arg;
    ngx_chain_t  out;

    if (ngx_http_arg(r, (u_char *) "bytes", 5, &arg) != NGX_OK) {
        return NGX_HTTP_BAD_REQUEST;
    }

    n = ngx_atoi(arg.data, arg.len);
    if (n < 1 || n > NGX_HTTP_FLOOR_MAX) {
        return NGX_HTTP_BAD_REQUEST;
    }

    r->headers_out.status = NGX_HTTP_OK;
    r->headers_out.content_type = ngx_http_floor_type;
    r->headers_out.content_type_len = ngx_http_floor_type.len;
    r->headers_out.content_length_n = n;

    rc = ngx_http_send_header(r);
    if (rc != NGX_OK) {
        return rc;
    }

    b = ngx_calloc_buf(r->pool);
    if (b == NULL) {
        return NGX_ERROR;
    }

    b->pos = ngx_http_floor_bytes;
    b->last = ngx_http_floor_bytes + n;
    b->memory = 1;
    b->last_buf = 1;

    out.buf = b;
    out.next = NULL;

    return ngx_http_output_filter(r, &out);
}
