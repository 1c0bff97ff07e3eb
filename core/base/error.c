#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

sym_status_t
sym_fail(sym_error_t *err, sym_status_t status, const char *what)
{
    return sym_fail_sys(err, status, what, 0);
}


sym_status_t
sym_fail_sys(sym_error_t *err, sym_status_t status, const char *what, int code)
{
    if (err->status != SYM_OK) {
        return err->status;
    }

    err->status = status;
    err->what = what;
    err->sys_errno = code;
    return status;
}


const char *
sym_status_name(sym_status_t status)
{
    static const char *const names[] = {
        [SYM_OK] = "ok",
        [SYM_NOT_FOUND] = "not found",
        [SYM_TRUNCATED] = "truncated",
        [SYM_MALFORMED] = "malformed",
        [SYM_UNSUPPORTED] = "unsupported",
        [SYM_LIMIT] = "over a limit",
        [SYM_NOMEM] = "out of memory",
        [SYM_IO] = "input/output error",
        [SYM_BUSY] = "busy",
        [SYM_FULL] = "full",
        [SYM_DAMAGED] = "damaged",
        [SYM_VERSION] = "unknown version",
        [SYM_AGAIN] = "not finished",
    };

    if ((size_t) status >= sizeof(names) / sizeof(names[0])) {
        return "unknown status";
    }

    return names[status];
}


/* Appends like snprintf(), and stays at the end once the buffer is full. */
#define APPEND(...)                                                            \
    do {                                                                       \
        int n_ = snprintf(buf + used, size - used, __VA_ARGS__);               \
        if (n_ > 0) {                                                          \
            used += (size_t) n_ < size - used ? (size_t) n_ : size - used - 1; \
        }                                                                      \
    } while (0)

const char *
sym_error_text(const sym_error_t *err, char *buf, size_t size)
{
    size_t used = 0;
    const char *separator = " (";

    if (size == 0) {
        return buf;
    }

    buf[0] = '\0';

    /* "cannot open: Permission denied" says more than the status name */
    if (err->status == SYM_IO && err->what != NULL) {
        APPEND("%s", err->what);

    } else {
        APPEND("%s%s%s", sym_status_name(err->status),
               err->what != NULL ? ": " : "",
               err->what != NULL ? err->what : "");
    }

    if (err->sys_errno != 0) {
        APPEND(": %s", strerror(err->sys_errno));
    }

    if (err->section != NULL) {
        APPEND("%s%s", separator, err->section);
        separator = ", ";
    }

    if (err->line != 0) {
        APPEND("%sline %" PRIu64, separator, err->line);
        separator = ", ";
    }

    if (err->item != 0) {
        APPEND("%sitem %" PRIu64, separator, err->item);
        separator = ", ";
    }

    if (err->offset != 0 || (err->section != NULL && err->item == 0)) {
        APPEND("%sbyte %" PRIu64, separator, err->offset);
        separator = ", ";
    }

    if (separator[0] == ',') {
        APPEND(")");
    }

    return buf;
}
