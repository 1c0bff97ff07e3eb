/*
 * package.h - where a package of a distribution contains its files.
 *
 * Sources: deb(5) and ar(5); LSB 5.0, core, "Package File Format", for RPM.  A
 * deb is an ar archive whose member data.tar is a tar; an RPM file has headers
 * in front of a cpio archive.  Both are usually compressed.  Packages of Alpine
 * and Arch are tars from their first byte on, so they are not recognized here;
 * the name of their first file shows what they are.
 */
#ifndef SYM_FORMATS_PACKED_PACKAGE_H
#define SYM_FORMATS_PACKED_PACKAGE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* Whether the file begins as a deb or an RPM package does. */
bool sym_package_is(sym_str_t bytes);

/* Gets the archive of the package's files, a view into bytes, which may be
 * compressed.  *is_cpio: false for a tar. */
sym_status_t sym_package_payload(sym_str_t bytes, sym_str_t *payload,
                                 bool *is_cpio, sym_error_t *err);

/* Whether a tar whose first file has this name is a package of Alpine
 * (APKBUILD(5), "apk-tools: Alpine Package format v2") or Arch
 * (PKGBUILD(5), makepkg). */
bool sym_package_is_first(sym_str_t name);

/* Whether a package's file with this name is one of dwz: the parts that the
 * debug files of the package share. */
bool sym_package_is_dwz(sym_str_t name);

#endif
