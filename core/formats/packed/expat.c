#include "formats/packed/expat.h"

#include <string.h>

#include "base/hash.h"

/* Functions that this version deprecates have replacements since then. */
#define EXPAT_VERSION                                                          \
    (XML_MAJOR_VERSION * 10000 + XML_MINOR_VERSION * 100 + XML_MICRO_VERSION)


void
sym_expat_salt(XML_Parser parser)
{
    sym_hash_key_t key = sym_hash_key();

#if EXPAT_VERSION >= 20800
    (void) XML_SetHashSalt16Bytes(parser, (const uint8_t *) &key);
#else
    (void) XML_SetHashSalt(parser, key.k0 | 1);
#endif
}


uint64_t
sym_expat_line(XML_Parser parser)
{
#if EXPAT_VERSION >= 20900
    return XML_GetCurrentLineNumber64(parser);
#else
    return XML_GetCurrentLineNumber(parser);
#endif
}


const char *
sym_expat_attribute(const XML_Char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2) {
        if (strcmp(attributes[0], name) == 0) {
            return attributes[1];
        }
    }

    return NULL;
}
