#include "api/tecken/readers.h"

#define NAME 1
#define ID 2

/* Classes of texts in which a byte is allowed. */
static const uint8_t classes[256] = {
    [' '] = NAME, ['+'] = NAME, ['-'] = NAME, ['.'] = NAME, ['<'] = NAME,
    ['>'] = NAME, ['@'] = NAME, ['_'] = NAME, ['{'] = NAME, ['}'] = NAME,
    ['~'] = NAME, ['0'] = 3,    ['1'] = 3,    ['2'] = 3,    ['3'] = 3,
    ['4'] = 3,    ['5'] = 3,    ['6'] = 3,    ['7'] = 3,    ['8'] = 3,
    ['9'] = 3,    ['A'] = 3,    ['B'] = 3,    ['C'] = 3,    ['D'] = 3,
    ['E'] = 3,    ['F'] = 3,    ['G'] = NAME, ['H'] = NAME, ['I'] = NAME,
    ['J'] = NAME, ['K'] = NAME, ['L'] = NAME, ['M'] = NAME, ['N'] = NAME,
    ['O'] = NAME, ['P'] = NAME, ['Q'] = NAME, ['R'] = NAME, ['S'] = NAME,
    ['T'] = NAME, ['U'] = NAME, ['V'] = NAME, ['W'] = NAME, ['X'] = NAME,
    ['Y'] = NAME, ['Z'] = NAME, ['a'] = 3,    ['b'] = 3,    ['c'] = 3,
    ['d'] = 3,    ['e'] = 3,    ['f'] = 3,    ['g'] = NAME, ['h'] = NAME,
    ['i'] = NAME, ['j'] = NAME, ['k'] = NAME, ['l'] = NAME, ['m'] = NAME,
    ['n'] = NAME, ['o'] = NAME, ['p'] = NAME, ['q'] = NAME, ['r'] = NAME,
    ['s'] = NAME, ['t'] = NAME, ['u'] = NAME, ['v'] = NAME, ['w'] = NAME,
    ['x'] = NAME, ['y'] = NAME, ['z'] = NAME,
};


static bool
all_of(sym_str_t s, uint8_t class)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((classes[(uint8_t) s.data[i]] & class) == 0) {
            return false;
        }
    }

    return true;
}


bool
name_is_valid(sym_str_t name)
{
    return all_of(name, NAME);
}


bool
id_is_valid(sym_str_t id)
{
    return all_of(id, ID);
}
