/*
 * types.c - writes the names of functions with their types.
 *
 * It has more than 800 lines because it is one recursion: a type has arguments,
 * and these are types.  The text, the cache of rendered types and the fields of
 * records are used only there.
 */
#include "formats/pdb/types.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/relay.h"
#include "formats/pdb/records.h"
#include "formats/pdb/simple.h"
#include "formats/pdb/sizes.h"

/* Limits: nesting of types; adjacent pointers; types in one name. */
#define DEPTH_MAX 64u
#define POINTERS_MAX 32u
#define STEPS_MAX 8192u

/* The cache of rendered types, because arguments recur.  A full cache is
 * emptied. */
#define KEPT_BYTES ((size_t) 1024 * 1024)
#define KEPT_BITS 13

/* The upper half of a cache key: the kind of text.  A key is never 0. */
#define KEPT_TYPE ((uint64_t) 1 << 32)
/* "(int) const": the arguments of a function. */
#define KEPT_ARGUMENTS ((uint64_t) 2 << 32)

/* LF_MODIFIER, LF_POINTER and CV_funcattr_t (cvinfo.h) */
#define MODIFIER_CONST 1u
#define POINTER_CONST 0x400u
#define FUNCTION_CONSTRUCTOR 0x200u
#define POINTER_MODE(attributes) ((attributes) >> 5 & 7)

typedef enum {
    WRITTEN,
    MISSING, /* the type does not exist; the text says so */
    FAILED   /* the name will be shown without arguments */
} result_t;

typedef struct {
    uint64_t key;
    uint32_t at, len; /* position in `kept` */
} slot_t;

struct sym_pdb_scratch_s {
    const sym_pdb_types_t *types;
    char text[SYM_PDB_NAME_MAX];
    size_t len;
    bool is_full;
    unsigned depth, steps;
    uint32_t missing; /* the type that is MISSING */

    slot_t slots[1 << KEPT_BITS];
    char *kept;
    uint32_t kept_len;

    sym_pdb_sizes_t sizes;
};

/* A pointer.  It is written after the type that it points to. */
typedef struct {
    uint8_t mode;
    bool is_const, is_to_const;
} pointer_t;

/* LF_PROCEDURE and LF_MFUNCTION (cvinfo.h, lfProc, lfMFunc) */
typedef struct {
    uint32_t returns, class, this, arguments;
    bool is_constructor;
} function_t;

static result_t write_type(sym_pdb_scratch_t *s, uint32_t index);
static result_t write_record(sym_pdb_scratch_t *s, sym_pdb_record_t *r);


typedef struct {
    sym_pdb_records_t *records;
    const sym_pdb_type_stream_t *stream;
    const char *section;
    sym_error_t err;
} opening_t;

/* A sym_relay_t's first step. */
static void
open_records(void *ctx, size_t piece, size_t slot)
{
    opening_t *o = (opening_t *) ctx + piece;

    (void) slot;
    (void) sym_pdb_records_open(o->records, o->stream->records,
                                o->stream->hashes, o->section, &o->err);
}


/* Its second. */
static bool
is_open(void *ctx, size_t piece, size_t slot)
{
    const opening_t *o = (const opening_t *) ctx + piece;

    (void) slot;
    return o->err.status == SYM_OK;
}


sym_status_t
sym_pdb_types_open(sym_pdb_types_t *types, const sym_pdb_type_stream_t *tpi,
                   const sym_pdb_type_stream_t *ipi,
                   const sym_thread_pool_t *pool, sym_error_t *err)
{
    opening_t both[2] = {
        { .records = &types->types, .stream = tpi, .section = "TPI stream" },
        { .records = &types->ids, .stream = ipi, .section = "IPI stream" },
    };
    const sym_relay_t relay = {
        .ctx = both, .n_pieces = 2, .make = open_records, .take = is_open
    };

    *types = (sym_pdb_types_t){ 0 };
    sym_relay_run(&relay, pool);
    if (both[0].err.status != SYM_OK) {
        *err = both[0].err;
    } else if (both[1].err.status != SYM_OK) {
        *err = both[1].err;
    }

    return err->status;
}


void
sym_pdb_types_close(sym_pdb_types_t *types)
{
    free(types->types.offsets);
    free(types->ids.offsets);
    *types = (sym_pdb_types_t){ 0 };
}


sym_pdb_scratch_t *
sym_pdb_scratch_create(const sym_pdb_types_t *types)
{
    sym_pdb_scratch_t *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        return NULL;
    }

    s->types = types;
    s->sizes.types = &types->types;
    s->sizes.key = sym_hash_key();
    s->kept = malloc(KEPT_BYTES);
    if (s->kept == NULL) {
        free(s);
        return NULL;
    }

    return s;
}


void
sym_pdb_scratch_free(sym_pdb_scratch_t *s)
{
    if (s != NULL) {
        free(s->sizes.classes);
        free(s->kept);
        free(s);
    }
}


void
sym_pdb_scratch_forget(sym_pdb_scratch_t *s)
{
    memset(s->slots, 0, sizeof(s->slots));
    s->kept_len = 0;
}


/* --- text --- */

static void
put(sym_pdb_scratch_t *s, sym_str_t text)
{
    if (text.len > sizeof(s->text) - s->len) {
        s->is_full = true;
        return;
    }

    if (text.len != 0) {
        memcpy(s->text + s->len, text.data, text.len);
        s->len += text.len;
    }
}


static void
put_name(sym_pdb_scratch_t *s, sym_str_t name)
{
    put(s, name.len != 0 ? name : SYM_STR("<name omitted>"));
}


/* Writes "<missing type 0x1234>" for a type that does not exist. */
static void
put_unknown(sym_pdb_scratch_t *s, const char *what, uint32_t n)
{
    char text[64];
    int len = snprintf(text, sizeof(text), "<%s 0x%" PRIx32 ">", what, n);

    put(s, sym_str(text, (size_t) len));
}


/* Number of elements of an array. */
static void
put_elements(sym_pdb_scratch_t *s, uint64_t n)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "[%" PRIu64 "]", n);

    put(s, sym_str(text, (size_t) len));
}


/* --- the cache of rendered types --- */

static slot_t *
slot_of(sym_pdb_scratch_t *s, uint64_t key)
{
    /* Knuth's multiplicative hash; a collision only replaces a cached text */
    return &s->slots[key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - KEPT_BITS)];
}


static bool
put_kept(sym_pdb_scratch_t *s, uint64_t key)
{
    const slot_t *slot = slot_of(s, key);

    if (slot->key != key) {
        return false;
    }

    put(s, sym_str(s->kept + slot->at, slot->len));
    return true;
}


/* Caches the text from `start` on. */
static void
keep(sym_pdb_scratch_t *s, uint64_t key, size_t start)
{
    const uint32_t len = (uint32_t) (s->len - start);

    if (s->is_full || s->sizes.is_out_of_memory) {
        return;
    }

    if (len > KEPT_BYTES - s->kept_len) {
        sym_pdb_scratch_forget(s);
    }

    memcpy(s->kept + s->kept_len, s->text + start, len);
    *slot_of(s, key) = (slot_t){ key, s->kept_len, len };
    s->kept_len += len;
}


/* --- records --- */

/* Enters a nested type, within the limits.  The caller decrements s->depth. */
static bool
enter(sym_pdb_scratch_t *s)
{
    s->depth++;
    return !s->is_full && s->depth <= DEPTH_MAX && s->steps++ < STEPS_MAX;
}


/* WRITTEN: the record was found. */
static result_t
find(sym_pdb_scratch_t *s, uint32_t index, sym_pdb_record_t *r)
{
    s->missing = index;
    if (index < SYM_PDB_FIRST_RECORD) {
        r->index = index;
        r->kind = 0;
        return sym_pdb_simple_name(index).len != 0 ? WRITTEN : MISSING;
    }

    return sym_pdb_records_get(&s->types->types, index, r) ? WRITTEN : MISSING;
}


static bool
is_read(const sym_pdb_record_t *r)
{
    return sym_ok(&r->fields);
}


/* 0xffff means "no type": the field once had 16 bits (cvinfo.h). */
static uint32_t
read_optional(sym_pdb_record_t *r)
{
    uint32_t index = sym_u32(&r->fields);

    return index == 0xffff ? 0 : index;
}


static bool
read_function(sym_pdb_record_t *r, function_t *f)
{
    const bool is_member = r->kind == SYM_LF_MFUNCTION;
    uint16_t attributes;

    f->returns = is_member ? sym_u32(&r->fields) : read_optional(r);
    f->class = is_member ? sym_u32(&r->fields) : 0;
    f->this = is_member ? read_optional(r) : 0;
    attributes = sym_u16(&r->fields);
    (void) sym_u16(&r->fields); /* number of arguments */
    f->arguments = sym_u32(&r->fields);
    f->is_constructor = (attributes & FUNCTION_CONSTRUCTOR) != 0;
    return is_read(r);
}


/* A pointer to a member contains the class, which is skipped, because the type
 * that it points to contains the class as well. */
static bool
read_pointer(sym_pdb_record_t *r, pointer_t *p, uint32_t *to)
{
    uint32_t attributes;

    *to = sym_u32(&r->fields);
    attributes = sym_u32(&r->fields);
    p->mode = POINTER_MODE(attributes);
    p->is_const = (attributes & POINTER_CONST) != 0;
    p->is_to_const = false;
    return is_read(r);
}


static bool
read_modifier(sym_pdb_record_t *r, uint32_t *of, bool *is_const)
{
    *of = sym_u32(&r->fields);
    *is_const = (sym_u16(&r->fields) & MODIFIER_CONST) != 0;
    return is_read(r);
}


static bool
read_array(sym_pdb_record_t *r, uint32_t *of, uint64_t *bytes)
{
    *of = sym_u32(&r->fields);
    (void) sym_u32(&r->fields); /* the type of its index */
    if (r->kind == SYM_LF_STRIDED_ARRAY) {
        (void) sym_u32(&r->fields);
    }

    *bytes = sym_pdb_read_number(r);
    return is_read(r);
}


static bool
is_array(uint16_t kind)
{
    return kind == SYM_LF_ARRAY || kind == SYM_LF_ARRAY_ST
           || kind == SYM_LF_STRIDED_ARRAY;
}


/* --- types --- */

/* Return type, e.g. "int "; nothing for constructors. */
static result_t
write_returned(sym_pdb_scratch_t *s, const function_t *f)
{
    result_t rc;

    if (f->is_constructor || f->returns == 0) {
        return WRITTEN;
    }

    rc = write_type(s, f->returns);
    put(s, SYM_STR(" "));
    return rc;
}


/* Writes "A, B"; is_behind: an argument precedes the list. */
static result_t
write_list(sym_pdb_scratch_t *s, sym_pdb_record_t *r, bool is_behind)
{
    uint32_t n = sym_u32(&r->fields);
    result_t rc = WRITTEN;

    if (n > sym_left(&r->fields) / 4) {
        return FAILED;
    }

    for (; n > 0 && rc == WRITTEN && !s->is_full; n--) {
        if (is_behind) {
            put(s, SYM_STR(", "));
        }

        is_behind = true;
        rc = write_type(s, sym_u32(&r->fields));
    }

    return is_read(r) ? rc : FAILED;
}


/*
 * A method is const if the type of `this` is a pointer to const.  For functions
 * without a receiver rustc writes the first argument there; it is shown as an
 * argument.
 */
static result_t
look_at_this(sym_pdb_scratch_t *s, const function_t *f, bool *is_const,
             bool *is_argument)
{
    sym_pdb_record_t r;
    pointer_t p;
    uint32_t to, of;
    result_t rc;

    *is_const = *is_argument = false;
    if (f->this == 0) {
        return WRITTEN; /* static */
    }

    rc = find(s, f->this, &r);
    if (rc != WRITTEN || r.kind != SYM_LF_POINTER) {
        *is_argument = true;
        return rc;
    }

    if (!read_pointer(&r, &p, &to)) {
        return FAILED;
    }

    if (to == f->class) {
        return WRITTEN;
    }

    rc = find(s, to, &r);
    if (rc != WRITTEN) {
        return rc;
    }

    *is_argument = true;
    if (r.kind == SYM_LF_MODIFIER) {
        bool is_modified_const;

        if (!read_modifier(&r, &of, &is_modified_const)) {
            return FAILED;
        }

        *is_argument = of != f->class;
        *is_const = !*is_argument && is_modified_const;
    }

    return WRITTEN;
}


/* "(int, A*)"; a const method also gets " const". */
static result_t
write_method_arguments(sym_pdb_scratch_t *s, const function_t *f,
                       bool with_const)
{
    bool is_const, is_argument;
    sym_pdb_record_t r;
    result_t rc = find(s, f->arguments, &r);

    if (rc != WRITTEN || r.kind != SYM_LF_ARGLIST) {
        return rc != WRITTEN ? rc : FAILED;
    }

    rc = look_at_this(s, f, &is_const, &is_argument);
    if (rc != WRITTEN) {
        return rc;
    }

    put(s, SYM_STR("("));
    if (is_argument) {
        rc = write_type(s, f->this);
    }

    if (rc == WRITTEN) {
        rc = write_list(s, &r, is_argument);
    }

    put(s, SYM_STR(")"));
    if (is_const && with_const) {
        put(s, SYM_STR(" const"));
    }

    return rc;
}


static result_t
write_arguments(sym_pdb_scratch_t *s, const sym_pdb_record_t *r,
                const function_t *f, bool with_const)
{
    result_t rc;

    if (r->kind == SYM_LF_MFUNCTION) {
        return write_method_arguments(s, f, with_const);
    }

    put(s, SYM_STR("("));
    rc = write_type(s, f->arguments);
    put(s, SYM_STR(")"));
    return rc;
}


/* The innermost pointer is the last one. */
static void
put_pointers(sym_pdb_scratch_t *s, const pointer_t *pointers, size_t n,
             bool is_behind)
{
    /* pointer, reference, member, member function, rvalue reference: modes of
     * LF_POINTER (cvinfo.h, CV_ptrmode_e) */
    static const char *const signs[8] = { "*", "&", "::*", "::*", "&&" };

    while (n-- > 0) {
        const pointer_t *p = &pointers[n];

        if (p->is_to_const) {
            put(s, is_behind ? SYM_STR(" const") : SYM_STR("const"));
        }

        put(s, sym_cstr(signs[p->mode]));
        if (p->is_const) {
            put(s, SYM_STR(" const"));
        }

        is_behind = true;
    }
}


/* "int (A::*)(char)" */
static result_t
write_function_pointer(sym_pdb_scratch_t *s, sym_pdb_record_t *r,
                       const pointer_t *pointers, size_t n)
{
    function_t f;
    result_t rc;

    if (!read_function(r, &f)) {
        return FAILED;
    }

    rc = write_returned(s, &f);
    put(s, SYM_STR("("));
    if (rc == WRITTEN && r->kind == SYM_LF_MFUNCTION) {
        rc = write_type(s, f.class);
    }

    put_pointers(s, pointers, n, false);
    put(s, SYM_STR(")"));
    return rc == WRITTEN ? write_arguments(s, r, &f, false) : rc;
}


/* r: the type to which the last pointer points. */
static result_t
write_pointed(sym_pdb_scratch_t *s, sym_pdb_record_t *r,
              const pointer_t *pointers, size_t n)
{
    result_t rc;

    if (r->kind == SYM_LF_MFUNCTION || r->kind == SYM_LF_PROCEDURE) {
        return write_function_pointer(s, r, pointers, n);
    }

    rc = write_record(s, r);
    put_pointers(s, pointers, n, true);
    return rc;
}


static result_t
write_pointer(sym_pdb_scratch_t *s, sym_pdb_record_t *r, bool is_const)
{
    pointer_t pointers[POINTERS_MAX];
    size_t n = 0;

    for (;;) {
        uint32_t to;
        result_t rc;

        if (n == POINTERS_MAX || !read_pointer(r, &pointers[n], &to)
            || pointers[n].mode > 4)
        {
            return FAILED;
        }

        pointers[n].is_const |= n == 0 && is_const;
        rc = find(s, to, r);
        if (rc == WRITTEN && r->kind == SYM_LF_MODIFIER) {
            if (!read_modifier(r, &to, &pointers[n].is_to_const)) {
                return FAILED;
            }
            rc = find(s, to, r);
        }

        n++;
        if (rc != WRITTEN) {
            return rc;
        }

        if (r->kind != SYM_LF_POINTER) {
            return write_pointed(s, r, pointers, n);
        }
    }
}


/* A nested array contains its size in bytes.  This size, divided by the size of
 * an element, is the number of elements. */
static result_t
write_array(sym_pdb_scratch_t *s, sym_pdb_record_t *r)
{
    uint64_t bytes[DEPTH_MAX];
    uint32_t of;
    size_t n = 0;
    result_t rc;

    do {
        if (n == DEPTH_MAX - 1 || !read_array(r, &of, &bytes[n++])) {
            return FAILED;
        }

        rc = find(s, of, r);
        if (rc != WRITTEN) {
            return rc;
        }
    } while (is_array(r->kind));

    bytes[n] = sym_pdb_size_of(&s->sizes, of);
    rc = write_record(s, r);

    for (size_t i = 0; i < n; i++) {
        if (bytes[i + 1] != 0) {
            put_elements(s, bytes[i] / bytes[i + 1]);
        } else {
            put(s, SYM_STR("[]")); /* struct A {}; void f(A (&)[10]) */
        }
    }

    return rc;
}


static result_t
write_simple(sym_pdb_scratch_t *s, uint32_t index, bool is_const)
{
    const bool is_pointer = sym_pdb_is_simple_pointer(index);

    if (is_const && !is_pointer) {
        put(s, SYM_STR("const "));
    }

    put(s, sym_pdb_simple_name(index));
    if (is_pointer) {
        put(s, is_const ? SYM_STR(" const*") : SYM_STR("*"));
    }

    return WRITTEN;
}


static result_t
write_modified(sym_pdb_scratch_t *s, sym_pdb_record_t *r)
{
    uint32_t of;
    bool is_const;
    result_t rc;

    if (!read_modifier(r, &of, &is_const)) {
        return FAILED;
    }

    rc = find(s, of, r);
    if (rc != WRITTEN) {
        return rc;
    }

    if (r->kind == 0) {
        return write_simple(s, of, is_const);
    }

    if (r->kind == SYM_LF_POINTER) {
        return write_pointer(s, r, is_const);
    }

    if (is_const) {
        put(s, SYM_STR("const "));
    }

    return write_record(s, r);
}


static result_t
write_enum(sym_pdb_scratch_t *s, sym_pdb_record_t *r)
{
    sym_str_t name;

    (void) sym_bytes(&r->fields, 12); /* count, properties, its type, fields */
    name = sym_pdb_read_text(r);
    put(s, name);
    return is_read(r) ? WRITTEN : FAILED;
}


static result_t
write_kind(sym_pdb_scratch_t *s, sym_pdb_record_t *r)
{
    sym_pdb_class_t c;
    function_t f;

    switch (r->kind) {
    case 0:
        return write_simple(s, r->index, false);
    case SYM_LF_MODIFIER:
        return write_modified(s, r);
    case SYM_LF_POINTER:
        return write_pointer(s, r, false);
    case SYM_LF_ARGLIST:
        return write_list(s, r, false);
    case SYM_LF_ENUM:
    case SYM_LF_ENUM_ST:
        return write_enum(s, r);
    case SYM_LF_PROCEDURE:
    case SYM_LF_MFUNCTION:
        put(s, SYM_STR("()"));
        return read_function(r, &f) ? write_arguments(s, r, &f, false) : FAILED;
    default:
        if (is_array(r->kind)) {
            return write_array(s, r);
        }

        if (sym_pdb_is_class(r->kind) && sym_pdb_read_class(r, &c)) {
            put(s, c.name);
            return WRITTEN;
        }

        return FAILED;
    }
}


static result_t
mark_missing(sym_pdb_scratch_t *s)
{
    put_unknown(s, "missing type", s->missing);
    return WRITTEN;
}


/* A type inside another one. */
static result_t
write_record(sym_pdb_scratch_t *s, sym_pdb_record_t *r)
{
    result_t rc = enter(s) ? write_kind(s, r) : FAILED;

    s->depth--;
    return rc == MISSING ? mark_missing(s) : rc;
}


static bool
is_known(uint16_t kind)
{
    switch (kind) {
    case 0:
    case SYM_LF_MODIFIER:
    case SYM_LF_POINTER:
    case SYM_LF_ARGLIST:
    case SYM_LF_ENUM:
    case SYM_LF_ENUM_ST:
    case SYM_LF_PROCEDURE:
    case SYM_LF_MFUNCTION:
        return true;
    default:
        return is_array(kind) || sym_pdb_is_class(kind);
    }
}


/* A type to which an argument, a list or a function refers. */
static result_t
write_type(sym_pdb_scratch_t *s, uint32_t index)
{
    const size_t start = s->len;
    sym_pdb_record_t r;
    result_t rc;

    if (put_kept(s, KEPT_TYPE | index)) {
        return WRITTEN;
    }

    rc = find(s, index, &r);
    if (rc == MISSING) {
        return mark_missing(s);
    }

    if (rc == WRITTEN && !is_known(r.kind)) {
        put_unknown(s, "unimplemented type kind", r.kind);
        return WRITTEN;
    }

    rc = rc == WRITTEN ? write_record(s, &r) : rc;
    if (rc == WRITTEN) {
        keep(s, KEPT_TYPE | index, start);
    }

    return rc;
}


/* --- names --- */

static void
begin(sym_pdb_scratch_t *s)
{
    s->len = 0;
    s->is_full = s->sizes.is_out_of_memory = false;
    s->depth = s->steps = 0;
}


/* Appends the arguments of a function's type to the function's name, or
 * nothing. */
static void
add_arguments(sym_pdb_scratch_t *s, uint32_t index)
{
    const uint64_t key = KEPT_ARGUMENTS | index;
    const size_t start = s->len;
    const bool has_room =
        start < SYM_PDB_NAME_MAX / 2 && s->steps < STEPS_MAX / 2;
    result_t rc = FAILED;
    sym_pdb_record_t r;
    function_t f;

    if (put_kept(s, key)) {
        return;
    }

    if (find(s, index, &r) == WRITTEN
        && (r.kind == SYM_LF_PROCEDURE || r.kind == SYM_LF_MFUNCTION)
        && read_function(&r, &f))
    {
        rc = write_arguments(s, &r, &f, true);
    }

    if (rc != WRITTEN || s->is_full) {
        s->len = start;
        s->is_full = false;
        if (!has_room) {
            return; /* the arguments may fit after a shorter name */
        }
    }

    keep(s, key, start);
}


static sym_status_t
finish(sym_pdb_scratch_t *s, sym_str_t *out)
{
    *out = sym_str(s->text, s->len);
    return s->sizes.is_out_of_memory ? SYM_NOMEM : SYM_OK;
}


/* LF_FUNC_ID and LF_MFUNC_ID: scope or class, type, name. */
static bool
read_id(const sym_pdb_types_t *types, uint32_t index, sym_pdb_record_t *r,
        uint32_t *scope, uint32_t *type)
{
    if (!sym_pdb_records_get(&types->ids, index, r)
        || (r->kind != SYM_LF_FUNC_ID && r->kind != SYM_LF_MFUNC_ID))
    {
        return false;
    }

    *scope = sym_u32(&r->fields);
    *type = sym_u32(&r->fields);
    return is_read(r);
}


sym_status_t
sym_pdb_types_function_name(sym_pdb_scratch_t *s, sym_str_t name,
                            uint32_t index, bool is_id, sym_str_t *out)
{
    sym_pdb_record_t r;
    uint32_t scope, type = index;

    *out = name;
    if (is_id && !read_id(s->types, index, &r, &scope, &type)) {
        return SYM_OK;
    }

    begin(s);
    put_name(s, name);
    if (s->is_full) {
        return SYM_OK;
    }

    if (type != 0) {
        add_arguments(s, type);
    }

    return finish(s, out);
}


/* "?A0x" and at most eight hexadecimal digits: a namespace without a name. */
static bool
is_anonymous(sym_str_t name)
{
    if (name.len < 5 || name.len > 12 || memcmp(name.data, "?A0x", 4) != 0) {
        return false;
    }

    for (size_t i = 4; i < name.len; i++) {
        if (strchr("0123456789abcdefABCDEF", name.data[i]) == NULL) {
            return false;
        }
    }

    return true;
}


static void
put_namespace(sym_pdb_scratch_t *s, uint32_t index)
{
    sym_pdb_record_t r;
    sym_str_t name;

    s->missing = index;
    if (!sym_pdb_records_get(&s->types->ids, index, &r)) {
        (void) mark_missing(s);
        return;
    }

    if (r.kind == SYM_LF_STRING_ID) {
        (void) sym_u32(&r.fields); /* each a part of a longer string */
        name = sym_pdb_read_text(&r);
        put(s, is_anonymous(name) ? SYM_STR("`anonymous namespace'") : name);
    }
}


sym_status_t
sym_pdb_types_inlinee_name(sym_pdb_scratch_t *s, uint32_t index, sym_str_t *out)
{
    sym_pdb_record_t r;
    uint32_t scope, type;

    *out = SYM_STR("");
    begin(s);
    if (!read_id(s->types, index, &r, &scope, &type)) {
        return SYM_NOT_FOUND;
    }

    if (r.kind == SYM_LF_MFUNC_ID) {
        if (write_type(s, scope) != WRITTEN) {
            s->len = 0;
        }
        put(s, SYM_STR("::"));
    } else if (scope != 0) {
        put_namespace(s, scope);
        put(s, SYM_STR("::"));
    }

    put_name(s, sym_pdb_read_text(&r));
    if (!is_read(&r) || s->is_full) {
        *out = sym_str(s->text, s->len);
        return s->sizes.is_out_of_memory ? SYM_NOMEM : SYM_NOT_FOUND;
    }

    add_arguments(s, type);
    return finish(s, out);
}
