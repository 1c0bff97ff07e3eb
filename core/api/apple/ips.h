/*
 * ips.h - a report as JSON while it is read; private to ips.c and ips_facts.c.
 *
 * Strings of jansson's trees are copied to the request's arena: each part of a report
 * has its own tree, which is dropped before the next part is read.
 */
#ifndef SYM_API_APPLE_IPS_H
#define SYM_API_APPLE_IPS_H

#include "api/apple/apple.h"

#include "json/load.h"

typedef struct {
    uint64_t base;
    sym_str_t package; /* its name as JSON text; data NULL: none */
} ips_image_t;

typedef enum {
    IPS_MEMBERS,
    IPS_SKIPPED_LIST, /* one of the two lists; its place is kept */
    IPS_IMAGES,
    IPS_THREADS,
    IPS_END
} ips_step_t;

struct apple_ips_s {
    apple_t *a;
    sym_status_t rc; /* other than SYM_OK: no more is read */

    ips_step_t step;
    const char *p, *end; /* rest of the step's JSON */
    sym_str_t *list;     /* of IPS_SKIPPED_LIST: one of the next two */
    sym_str_t images_text, threads_text, exception_text;

    ips_image_t *images;
    uint32_t n_images, max_images;
    uint64_t thread; /* number of the next one */

    bool has_faulting;
    uint64_t faulting;   /* number of the thread that crashed */
    sym_str_t backtrace; /* frames of an exception as text */
};

/* data NULL: absent; or out of memory: ips->rc. */
sym_str_t ips_text(apple_ips_t *ips, const json_t *object, const char *key);

/* Takes the value of a member that is neither list nor stack.  Members with another
 * key, or of another type, are ignored. */
void ips_read_fact(apple_ips_t *ips, sym_str_t key, const json_t *value);
bool ips_is_fact(sym_str_t key);

/* Takes facts that the report lacks from the line before it. */
void ips_read_summary(apple_ips_t *ips, const json_t *summary);

#endif
