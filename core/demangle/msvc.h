/*
 * msvc.h - the syntax tree of a decorated name of Microsoft's compilers.
 *
 * Microsoft does not document the grammar; clang's MicrosoftMangle.cpp
 * implements it.  A name may refer back to its first ten names and ten types.
 * So the parsed form is a graph with shared parts, and a short name can expand
 * to an unbounded text.  All parts are in one block of memory, whose size is
 * bounded by the name's length.
 */
#ifndef SYM_DEMANGLE_MSVC_H
#define SYM_DEMANGLE_MSVC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Limit on the nesting of functions, templates and types. */
#define SYM_MSVC_DEPTH_MAX 128u

/* Size of the memory block: a number of bytes for each byte of the name, plus a
 * fixed part. */
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
    struct sym_msvc_names_s *next; /* the next inner scope */
    sym_msvc_name_t *name;
} sym_msvc_names_t;

typedef struct sym_msvc_types_s {
    struct sym_msvc_types_s *next;
    sym_msvc_type_t *type;
} sym_msvc_types_t;

typedef enum {
    SYM_MSVC_TEXT, /* an identifier, or an operator as spelled in text */
    SYM_MSVC_TEMPLATE,
    SYM_MSVC_CONSTRUCTOR,
    SYM_MSVC_DESTRUCTOR,
    SYM_MSVC_CONVERSION,
    SYM_MSVC_LITERAL, /* operator ""_x: text is _x */
    SYM_MSVC_GUARD,   /* text and an optional number */
    SYM_MSVC_NUMBER,  /* the number of a scope in a function */
    SYM_MSVC_SYMBOL,  /* a function as the scope of a local name */
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
    SYM_MSVC_SIMPLE, /* text, which may be "..." or empty */
    SYM_MSVC_NAMED,
    SYM_MSVC_POINTER, /* text: "*", "&" or "&&" */
    SYM_MSVC_MEMBER,  /* int A::* */
    SYM_MSVC_ARRAY,
    SYM_MSVC_FUNCTION,
    SYM_MSVC_METHOD, /* int (A::*)(char) */
    SYM_MSVC_INTEGER,
    SYM_MSVC_PARAMETER, /* a parameter of a template, by number */
    SYM_MSVC_ADDRESS,   /* &A::x */
    SYM_MSVC_NOTHING    /* an empty pack */
} sym_msvc_type_kind_t;

struct sym_msvc_type_s {
    sym_msvc_type_kind_t kind;
    uint8_t qualifiers;
    bool is_negative;
    sym_str_t text;
    sym_msvc_type_t *of; /* target type, element type, or return type */
    sym_msvc_types_t *arguments;
    sym_msvc_symbol_t *symbol;
    uint64_t n;
};

/* The kind of encoding that follows the name. */
typedef enum {
    SYM_MSVC_BARE,
    SYM_MSVC_CALLABLE,
    SYM_MSVC_VFTABLE,
    SYM_MSVC_VBASES,
    SYM_MSVC_VCALL
} sym_msvc_encoding_t;

struct sym_msvc_symbol_s {
    sym_msvc_name_t *name;
    sym_msvc_names_t *scope; /* enclosing scopes, outermost first */
    sym_msvc_name_t *inner;  /* the innermost scope, or NULL */
    sym_msvc_encoding_t encoding;
    sym_msvc_type_t *function; /* used by SYM_MSVC_CALLABLE */
    sym_msvc_names_t *bases;   /* used by SYM_MSVC_VFTABLE and VBASES */
    uint64_t offset;           /* used by SYM_MSVC_VCALL */
};

/* Parses into `memory`.  NULL: `text` is not a decorated name, or is too large
 * for `memory`.  The parts are views of `text`. */
sym_msvc_symbol_t *sym_msvc_parse(sym_str_t text, void *memory, size_t bytes);

#endif
