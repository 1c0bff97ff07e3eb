/*
 * apple.h - a request of Sentry's API for a crash report of Apple (POST
 * /applecrashreport): the declarations that its files share.
 *
 *     apple.c   the form, and the failed answer
 *     text.c    reports as text
 *     ips.c     reports as JSON, since iOS 15 and macOS 12
 *     ips_facts.c   their members besides stacks and images
 *     facts.c   parts of the answer besides stacks and modules
 *
 * Stacks and modules of the report become those of a native request, which
 * core/api/sentry answers.
 */
#ifndef SYM_API_APPLE_APPLE_H
#define SYM_API_APPLE_APPLE_H

#include "api/sentry/crash.h"
#include "api/sentry/readers.h"
#include "base/text.h"

/* Facts of a report; texts with data NULL are absent. */
typedef struct {
    bool has_time;
    int64_t time_s;
    sym_str_t device, arch;
    sym_str_t os;                      /* name, version and build in one text */
    sym_str_t os_name, version, build; /* separate parts, if `os` is absent */
    sym_str_t reason, details;
} apple_facts_t;

/* The section of a text that contains a line. */
typedef enum {
    APPLE_KEYS,
    APPLE_THREAD,
    APPLE_IMAGES,
    APPLE_REGISTERS,
    APPLE_DETAILS,
    APPLE_SYSLOG
} apple_section_t;

/* A report as JSON; see ips.h. */
typedef struct apple_ips_s apple_ips_t;

typedef struct {
    sentry_t sentry; /* first */
    sym_str_t content_type;
    const sym_request_t *linked; /* the request that led to the report, which is
                                    the body; NULL: the body is a form */
    sym_str_t failure;           /* why there is no report, or "": not known */
    sym_str_t report; /* the part of a text report that is not read yet */
    bool is_json;
    bool is_begun;  /* the form has been read */
    bool is_read;   /* the report has been read, too */
    bool is_failed; /* the body is not a report */
    apple_facts_t facts;
    unsigned
        details_rank; /* of facts.details; 1 is the best, 0: there are none */
    apple_ips_t *ips; /* NULL: not begun, or a text */

    /* state of a text report */
    apple_section_t section;
    sentry_register_t *registers;
    uint32_t n_registers; /* read */
    sym_text_t details;   /* details of the application */
    bool has_name;        /* the name of the next thread */
    uint64_t named;
    sym_str_t name;
    sym_str_t first_arch; /* architecture of the first image */
} apple_t;

/* Whether the text is a report as JSON: an object, perhaps after a line with
 * another. */
bool apple_is_ips(sym_str_t report);

/* Read the report: as much of it as `budget` lines.  SYM_AGAIN; SYM_MALFORMED: it is not a
 * report; SYM_LIMIT: refused; SYM_NOMEM. */
sym_status_t apple_read_text(apple_t *a, uint32_t budget);
sym_status_t apple_read_ips(apple_t *a, uint32_t budget);

/* Writes the answer's members before the stacks. */
void apple_write_facts(const sentry_t *s, sym_out_t *out);

/* Parses "2019-01-09 17:42:22 +0000", also with a fraction of a second.  False:
 * not a time. */
bool apple_read_time(sym_str_t text, int64_t *time_s);

/* Converts "X86-64" and "x86_64" to "x86_64"; data NULL: unknown. */
sym_str_t apple_arch(sym_str_t word);

/* --- parts of the request; SYM_LIMIT: refused; SYM_NOMEM --- */

sym_status_t apple_add_stack(apple_t *a, uint64_t id, sym_str_t name,
                             bool is_crashed, sentry_stack_t **stack);

/* A text as JSON, as fields of frames are kept; data NULL: no memory. */
sym_str_t apple_json(apple_t *a, sym_str_t text);

/* package: as JSON text, data NULL if the report has none. */
sym_status_t apple_add_frame(apple_t *a, uint64_t addr, sym_str_t package,
                             sentry_frame_t **frame);

/* Adds the frames of a text, up to its first line that is not a frame. */
sym_status_t apple_add_frame_lines(apple_t *a, sym_str_t text);

typedef struct {
    uint64_t start, size;
    sym_str_t uuid, path;
} apple_image_t;

/* SYM_MALFORMED: the image has no valid UUID. */
sym_status_t apple_add_image(apple_t *a, const apple_image_t *image);

#endif
