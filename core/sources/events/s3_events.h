/*
 * s3_events.h - event notifications of S3 about written and removed files.
 *
 * S3 and compatible servers post a JSON text when an object is written or
 * removed; the caller forgets what it knows of its path.  Three forms are read,
 * with the differences between servers (docs/use/sources.md, section 3):
 *  - S3's own: {"Records": [...]}, one record an object, many in one text.
 *    Ceph, MinIO, s3rver and others write the same.
 *  - that, or the next, as the text "Message" of an SNS notification.
 *  - EventBridge's: {"detail-type": ..., "detail": {...}}.
 *
 * Sources: "Event message structure" and "EventBridge event message structure"
 * (Amazon S3 User Guide), "Parsing message formats" (Amazon SNS Developer
 * Guide).
 *
 * Results live as long as the arena, whose limit bounds them.  jansson's tree,
 * freed when the call returns, is bounded by the text's length only: the caller
 * limits that.
 */
#ifndef SYM_SOURCES_EVENTS_S3_EVENTS_H
#define SYM_SOURCES_EVENTS_S3_EVENTS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Maximum number of records in a text. */
#define SYM_S3_EVENTS_MAX 100000

/* Maximum length of a key in bytes, as in S3. */
#define SYM_S3_KEY_MAX 1024

typedef struct {
    const sym_str_t *keys; /* decoded, in the order of the records */
    size_t n_keys;
    size_t n_records; /* in the text */
    size_t n_ignored; /* number of these that are other events, or have keys of
                         no file */
} sym_s3_events_t;

/*
 * A record whose key contains a '+' may result in two keys: S3 means a space,
 * but Ceph and s3rver, which do not encode keys, mean a plus.  To drop the
 * records of a path unnecessarily is harmless; to miss a change of
 * "libstdc++.so" is not.
 *
 * SYM_MALFORMED: not JSON, or invalid for the form that it claims; err->item is
 * the record.  SYM_UNSUPPORTED: another form, or an SNS subscription that must
 * be confirmed.  SYM_LIMIT: too many records.  SYM_NOMEM. *out is empty then.
 */
sym_status_t sym_s3_events_read(sym_arena_t *arena, sym_str_t text,
                                sym_s3_events_t *out, sym_error_t *err);

#endif
