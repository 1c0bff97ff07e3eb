/*
 * package_xml.h - packages in the metadata of a repository of RPM.
 *
 * Source: createrepo_c(8), with its schemas.  `primary.xml` has the packages.
 * `repomd.xml` has the name of that file, which is one entry with
 * SYM_PACKAGE_RPM_LIST.
 */
#ifndef SYM_FORMATS_PACKED_PACKAGE_XML_H
#define SYM_FORMATS_PACKED_PACKAGE_XML_H

#include "formats/packed/package_index.h"

sym_status_t sym_package_xml_read(sym_pieces_more_pt more, void *from,
                                  sym_package_sink_pt sink, void *ctx,
                                  sym_error_t *err);

#endif
