/*
 * request.h - a parsed request.  Private to this API.
 */
#ifndef SYM_API_ATOS_REQUEST_H
#define SYM_API_ATOS_REQUEST_H

#include "api/atos/address.h"
#include "api/atos/atos.h"
#include "api/atos/line.h"

typedef struct {
    sym_str_t name;      /* "AwemeDylib" */
    char id[SYM_ID_MAX]; /* canonical */
    size_t id_len;
    sym_atos_base_t base;
    bool is_used;
    uint32_t module; /* index in base.needs, if the image is used */
} image_t;

typedef struct {
    uint32_t image;
    sym_str_t text; /* as sent */
    uint64_t value;
} address_t;

typedef struct {
    sym_request_t base;
    bool is_text, is_query; /* from sym_atos_options_t */
    image_t *images;
    uint32_t n_images;
    address_t *addresses;
    bool full_path;
    bool has_return_addresses; /* all addresses but the first are return
                                  addresses */
    sym_atos_inline_t mode;
    struct answer_s *answer;
} atos_t;

sym_status_t atos_read(atos_t *a);

sym_status_t atos_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget);
bool atos_resume(sym_request_t *r);

#endif
