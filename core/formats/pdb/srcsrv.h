/*
 * srcsrv.h - the stream with the origin of source files for debuggers
 * (Microsoft: "Language Specification 1", of Debugging Tools for Windows).
 */
#ifndef SYM_FORMATS_PDB_SRCSRV_H
#define SYM_FORMATS_PDB_SRCSRV_H

#include "base/str.h"

/* The version control system that the stream names (VERCTRL), or "". */
sym_str_t sym_pdb_version_control(sym_str_t srcsrv);

#endif
