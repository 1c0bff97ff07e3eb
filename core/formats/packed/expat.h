/*
 * expat.h - what each reader of XML needs of expat, in any of its versions.
 */
#ifndef SYM_FORMATS_PACKED_EXPAT_H
#define SYM_FORMATS_PACKED_EXPAT_H

#include <expat.h>
#include <stdint.h>

/* Without a salt, or with salt 0, expat calls getrandom(), which the sandbox
 * forbids. */
void sym_expat_salt(XML_Parser parser);

/* The current line, from 1. */
uint64_t sym_expat_line(XML_Parser parser);

/* Returns the value of an attribute of an element; NULL: it has none of this
 * name. */
const char *sym_expat_attribute(const XML_Char **attributes, const char *name);

#endif
