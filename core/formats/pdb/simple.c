#include "formats/pdb/simple.h"

/* The lowest byte of the index is the kind.  The mode is above it: 0 a value, 1
 * to 7 pointers. */
#define KIND(index) ((index) &0xff)
#define MODE(index) ((index) >> 8)
#define MODES 8

typedef struct {
    const char *name;
    uint8_t bytes;
} simple_t;

static const simple_t simple[256] = {
    [0x00] = { "<NoType>", 0 }, /* also used for "...", more arguments */
    [0x03] = { "void", 0 },
    [0x08] = { "HRESULT", 4 },
    [0x10] = { "signed char", 1 },
    [0x11] = { "short", 2 },
    [0x12] = { "long", 4 },
    [0x13] = { "long long", 8 },
    [0x14] = { "int128_t", 16 },
    [0x20] = { "unsigned char", 1 },
    [0x21] = { "unsigned short", 2 },
    [0x22] = { "unsigned long", 4 },
    [0x23] = { "unsigned long long", 8 },
    [0x24] = { "uint128_t", 16 },
    [0x30] = { "bool", 1 },
    [0x31] = { "bool16_t", 2 },
    [0x32] = { "bool32_t", 4 },
    [0x33] = { "bool64_t", 8 },
    [0x40] = { "float", 4 },
    [0x41] = { "double", 8 },
    [0x42] = { "long double", 10 },
    [0x43] = { "long double", 16 },
    [0x44] = { "float48_t", 6 },
    [0x45] = { "float", 4 },
    [0x46] = { "float16_t", 2 },
    [0x50] = { "complex<float>", 8 },
    [0x51] = { "complex<double>", 16 },
    [0x52] = { "complex<long double>", 20 },
    [0x53] = { "complex<long double>", 32 },
    [0x68] = { "int8_t", 1 },
    [0x69] = { "uint8_t", 1 },
    [0x70] = { "char", 1 },
    [0x71] = { "wchar_t", 2 },
    [0x72] = { "int16_t", 2 },
    [0x73] = { "uint16_t", 2 },
    [0x74] = { "int", 4 },
    [0x75] = { "unsigned int", 4 },
    [0x76] = { "int64_t", 8 },
    [0x77] = { "uint64_t", 8 },
    [0x78] = { "int128_t", 16 },
    [0x79] = { "uint128_t", 16 },
    [0x7a] = { "char16_t", 2 },
    [0x7b] = { "char32_t", 4 },
    [0x7c] = { "char8_t", 1 },
};


sym_str_t
sym_pdb_simple_name(uint32_t index)
{
    const char *name = simple[KIND(index)].name;

    return name != NULL && MODE(index) < MODES ? sym_cstr(name)
                                               : sym_str(NULL, 0);
}


bool
sym_pdb_is_simple_pointer(uint32_t index)
{
    return MODE(index) != 0;
}


/* Pointers: near, far and huge of 16 bits; near and far of 32; 64; 128. */
uint64_t
sym_pdb_simple_size(uint32_t index)
{
    static const uint8_t pointers[MODES] = { 0, 2, 4, 4, 4, 6, 8, 16 };

    if (sym_pdb_is_simple_pointer(index)) {
        return MODE(index) < MODES ? pointers[MODE(index)] : 0;
    }

    return simple[KIND(index)].bytes;
}
