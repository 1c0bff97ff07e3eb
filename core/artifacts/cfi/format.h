/*
 * format.h - the artifact `cfi`: unwind rules by address.
 *
 * docs/formats/cfi.md describes it byte by byte; the names here are its names.
 * Numbers are little endian on every host.
 */
#ifndef SYM_ARTIFACTS_CFI_FORMAT_H
#define SYM_ARTIFACTS_CFI_FORMAT_H

#include <stdint.h>

#include "artifacts/extents.h"
#include "base/little.h"

/* Increases with every change that an older reader would misread. */
#define SYM_CFI_VERSION 2

#define SYM_CFI_MAGIC 0x43494653u /* "SFIC" */

/* Qualities: without rules, and with rules. */
#define SYM_CFI_NO_RULES 1
#define SYM_CFI_HAS_RULES 2

/* The header, at the beginning of extent 0. */
#define SYM_CFI_HEADER_BYTES 64

/* Set for Windows.  There, functions of x86-64 also restore RSI and RDI.
 * Functions of x86-64 and arm64 that have no rules change neither the stack
 * pointer nor saved registers. */
#define SYM_CFI_FLAG_WINDOWS 1u

/* A page of rows: u8 n; u8 gap[n - 1], the distance of each row from the row
 * before; u8 rule[n], numbers of rules, 0 for none.  SYM_CFI_GAP_FAR and
 * SYM_CFI_RULE_FAR are in place of numbers that do not fit.  These follow the
 * columns as ULEB128, gaps first. */
#define SYM_CFI_GAP_FAR 0u
#define SYM_CFI_RULE_FAR 255u
#define SYM_CFI_PAGE_ROWS 32

/* Record of the table of pages: u32 address of the page's first row, u32
 * ref. */
#define SYM_CFI_PAGE_BYTES 8

/* Record of the table of rules: u32 ref. */
#define SYM_CFI_RULE_BYTES 4
#define SYM_CFI_RULES_MAX (1u << 22)

/* Rules.  u8: number of registers with a rule and SYM_CFI_SIGNAL, or
 * SYM_CFI_PROGRAM.  Then the rule of the CFA, with register 0, and the rule of
 * each register.  A rule is u8 SYM_CFI_RULE(how, register), then its numbers.
 * An offset is SLEB128: twice the number of words, or twice the number of bytes
 * plus 1. */
#define SYM_CFI_RULE(how, number) ((how) *SYM_CFI_RULE_REGISTERS + (number))
#define SYM_CFI_RULE_REGISTERS 33
#define SYM_CFI_SIGNAL 0x40u /* the frame is a signal's */
/* ULEB128 bytes of parameters and the program follow */
#define SYM_CFI_PROGRAM 0xffu

typedef enum {
    SYM_CFI_UNDEFINED,
    SYM_CFI_CFA,         /* CFA + offset */
    SYM_CFI_AT_CFA,      /* word at CFA + offset */
    SYM_CFI_REGISTER,    /* register (u8) + offset */
    SYM_CFI_AT_REGISTER, /* word at register + offset */
    SYM_CFI_VALUE,       /* result of a program; the rule contains its length
                            (ULEB128) and bytes */
    SYM_CFI_AT_VALUE,    /* word at the result of a program */
    SYM_CFI_HOWS
} sym_cfi_how_t;

/* Limit on the length of an address's encoded rules. */
#define SYM_CFI_RULES_BYTES_MAX 4096

/*
 * A program works on a stack of words.  Numbers are unsigned and as wide as the
 * architecture's words.
 */
#define SYM_CFI_STACK_MAX 32
#define SYM_CFI_SLOTS 16       /* variables */
#define SYM_CFI_STEPS_MAX 1024 /* limit on executed operations */

typedef enum {
    SYM_CFI_OP_CONST, /* SLEB128 */
    SYM_CFI_OP_GET,   /* u8 register */
    SYM_CFI_OP_SET,   /* u8 register: pops the top */
    SYM_CFI_OP_LOAD,  /* u8 slot */
    SYM_CFI_OP_STORE, /* u8 slot: pops the top */
    SYM_CFI_OP_GET_CFA,
    SYM_CFI_OP_CALLEE_PARAMETERS, /* callee_parameter_bytes */
    SYM_CFI_OP_READ,              /* u8 size: replaces the top by the memory
                                     at that address */
    SYM_CFI_OP_ADD,
    SYM_CFI_OP_SUB,
    SYM_CFI_OP_MUL,
    SYM_CFI_OP_DIV,        /* unsigned */
    SYM_CFI_OP_DIV_SIGNED, /* as in DWARF */
    SYM_CFI_OP_MOD,        /* unsigned */
    SYM_CFI_OP_ALIGN,      /* rounds the second down to a multiple of the top */
    SYM_CFI_OP_AND,
    SYM_CFI_OP_OR,
    SYM_CFI_OP_XOR,
    SYM_CFI_OP_SHL,
    SYM_CFI_OP_SHR,
    SYM_CFI_OP_SHRA,
    SYM_CFI_OP_EQ, /* comparisons are signed, as in DWARF */
    SYM_CFI_OP_NE,
    SYM_CFI_OP_LT,
    SYM_CFI_OP_LE,
    SYM_CFI_OP_GT,
    SYM_CFI_OP_GE,
    SYM_CFI_OP_NOT,
    SYM_CFI_OP_NEG,
    SYM_CFI_OP_ABS,
    SYM_CFI_OP_DUP,
    SYM_CFI_OP_DROP,
    SYM_CFI_OP_PICK, /* u8 index, counted from the top */
    SYM_CFI_OP_SWAP,
    SYM_CFI_OP_ROT,
    SYM_CFI_OP_SKIP,   /* i16: jumps, relative to the next operation */
    SYM_CFI_OP_BRANCH, /* i16: pops the top, and jumps if it is not 0 */
    SYM_CFI_OPS
} sym_cfi_op_t;

#endif
