/*
 * question.h - a question to an artifact of any kind.
 *
 * A question carries the key of the kind that answers it (artifacts/kinds.h).  A
 * request may have 100,000 questions by address, which have a smaller form:
 * sym_question_t (resolver.h).
 */
#ifndef SYM_SYMBOLICATE_QUESTION_H
#define SYM_SYMBOLICATE_QUESTION_H

#include "artifacts/kinds.h"

typedef struct {
    uint32_t module; /* whose artifact is asked */
    sym_key_type_t by;
    union {
        uint64_t addr; /* SYM_KEY_ADDRESS: from the beginning of the image */
        struct {
            uint32_t method, offset; /* row of the method's table, IL offset */
        } il;                        /* SYM_KEY_IL */
        struct {
            uint32_t line, column; /* of generated code, from 0 */
        } position;                /* SYM_KEY_POSITION */
        struct {
            sym_str_t class_name, name;
            uint32_t line; /* 0: unknown */
        } method;          /* SYM_KEY_METHOD */
        struct {
            sym_str_t path;
            uint32_t line; /* from 1; 0: the whole text */
        } source;          /* SYM_KEY_PATH */
    } key;
} sym_keyed_question_t;

#endif
