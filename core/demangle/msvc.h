/*
 * msvc.h - a decorated name of Microsoft's compilers, as it was parsed.
 *
 * The form is not documented by Microsoft: clang's MicrosoftMangle.cpp writes it.
 * A name may refer back to ten names and ten types that came before, so what is
 * parsed is no tree: parts are shared, and a short name can stand for endless
 * text.  All parts lie in one block of memory, which the name's length bounds.
 */
#ifndef SYM_DEMANGLE_MSVC_H
#define SYM_DEMANGLE_MSVC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Of functions, templates and types within each other. */
#define SYM_MSVC_DEPTH_MAX 128u

/* Bytes of memory for each byte of a name, and for any. */
#define SYM_MSVC_MEMORY_EACH ((size_t) 128)
#define SYM_MSVC_MEMORY_ANY ((size_t) 4096)

/* Qualifiers of types and methods. */
enum {
    SYM_MSVC_CONST = 1,
    SYM_MSVC_VOLATILE = 2,
    SYM_MSVC_RESTRICT = 4,
    SYM_MSVC_LVALUE = 8, /* f() & */
    SYM_MSVC_RVALUE = 16
};

typedef struct sym_msvc_name_s sym_msvc_name_t;
typedef struct sym_msvc_type_s sym_msvc_type_t;
typedef struct sym_msvc_symbol_s sym_msvc_symbol_t;

typedef struct sym_msvc_names_s {
    struct sym_msvc_names_s *next; /* further in */
    sym_msvc_name_t *name;
} sym_msvc_names_t;

typedef struct sym_msvc_types_s {
    struct sym_msvc_types_s *next;
    sym_msvc_type_t *type;
} sym_msvc_types_t;

typedef enum {
    SYM_MSVC_TEXT, /* also of an operator: its text is all there is */
    SYM_MSVC_TEMPLATE,
    SYM_MSVC_CONSTRUCTOR,
    SYM_MSVC_DESTRUCTOR,
    SYM_MSVC_CONVERSION,
    SYM_MSVC_LITERAL, /* operator ""_x: text is _x */
    SYM_MSVC_GUARD,   /* text and, if there is one, a number */
    SYM_MSVC_NUMBER,  /* the n-th scope of a function */
    SYM_MSVC_SYMBOL,  /* a function that others lie in */
    SYM_MSVC_INTERFACE,
    SYM_MSVC_VBTABLE,
    SYM_MSVC_RTTI_TYPE,
    SYM_MSVC_RTTI_BASE
} sym_msvc_name_kind_t;

struct sym_msvc_name_s {
    sym_msvc_name_kind_t kind;
    sym_str_t text;
    union {
        struct {
            sym_msvc_name_t *of;
            sym_msvc_types_t *arguments;
        };
        sym_msvc_symbol_t *symbol;
        sym_msvc_type_t *type;
        int64_t n[4];
    };
};

typedef enum {
    SYM_MSVC_SIMPLE, /* text; also "...", and what is shown as nothing */
    SYM_MSVC_NAMED,
    SYM_MSVC_POINTER, /* text is "*", "&" or "&&" */
    SYM_MSVC_MEMBER,  /* int A::* */
    SYM_MSVC_ARRAY,
    SYM_MSVC_FUNCTION,
    SYM_MSVC_METHOD, /* int (A::*)(char) */
    SYM_MSVC_INTEGER,
    SYM_MSVC_PARAMETER, /* of a template, by number */
    SYM_MSVC_ADDRESS,   /* &A::x */
    SYM_MSVC_NOTHING    /* an empty pack */
} sym_msvc_type_kind_t;

struct sym_msvc_type_s {
    sym_msvc_type_kind_t kind;
    uint8_t qualifiers;
    bool is_negative;
    sym_str_t text;
    sym_msvc_type_t *of; /* what is pointed to, an array's, what is returned */
    sym_msvc_types_t *arguments;
    sym_msvc_symbol_t *symbol;
    uint64_t n;
};

/* What stands behind the name. */
typedef enum {
    SYM_MSVC_BARE,
    SYM_MSVC_CALLABLE,
    SYM_MSVC_VFTABLE,
    SYM_MSVC_VBASES,
    SYM_MSVC_VCALL
} sym_msvc_encoding_t;

struct sym_msvc_symbol_s {
    sym_msvc_name_t *name;
    sym_msvc_names_t *scope; /* from the outermost on */
    sym_msvc_name_t *inner;  /* the innermost of them, or NULL */
    sym_msvc_encoding_t encoding;
    sym_msvc_type_t *function; /* of a callable one */
    sym_msvc_names_t *bases;   /* of tables */
    uint64_t offset;           /* of a vcall */
};

/* The parts in `memory`; NULL: no such name, or too costly.  Names borrow from
 * `text`. */
sym_msvc_symbol_t *sym_msvc_parse(sym_str_t text, void *memory, size_t bytes);

#endif
