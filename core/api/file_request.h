/*
 * file_request.h - a request for a file of an object, and the steps to answer
 * it.
 *
 * The path of a SYM_ROUTE_FILE becomes a list of steps.  All sources of the
 * location are searched for the files of the first step, then for those of the
 * next one.  The first usable file is the answer.  The structure contains views
 * of the request's path and of itself.
 */
#ifndef SYM_API_FILE_REQUEST_H
#define SYM_API_FILE_REQUEST_H

#include "object/files.h"
#include "object/object_ref.h"

#define SYM_FILE_STEPS 3

/* How a file is named to sources: by the ids of its object, by these and a path,
 * or by a path alone. */
typedef enum {
    SYM_FILE_BY_IDS,
    SYM_FILE_BY_BOTH,
    SYM_FILE_BY_PATH
} sym_file_by_t;

typedef struct {
    unsigned files;  /* a bit for each sym_source_file_t; 0: no more steps */
    sym_make_t make; /* what the client gets of such a file; SYM_MAKE_PROOF: all
                        of it, if it has debug information */
    sym_file_by_t by;
} sym_file_step_t;

/* Which sources are searched.  A source NAME.try, in a location that also has
 * NAME, is for builds that should not be found by chance. */
typedef enum {
    SYM_FILE_ALL_SOURCES,
    SYM_FILE_WITHOUT_TRY,
    SYM_FILE_TRY_LAST
} sym_file_sources_t;

typedef struct {
    sym_object_ref_t object;
    sym_file_step_t steps[SYM_FILE_STEPS];
    sym_file_sources_t sources;
    size_t prefix;   /* length of "try/" before the path of a file, or 0 */
    sym_str_t part;  /* with SYM_MAKE_SECTION: its name; with SYM_MAKE_SOURCE:
                          the path of the source file */
    sym_str_t file;  /* for SYM_MAKE_NAME: last part of the path */
    unsigned rules;  /* for SYM_MAKE_SYM: types of files for unwind rules, which
                        are appended to a text without any; 0: none */
    bool is_cabinet; /* only a cabinet is such a file */
    char code_file[SYM_NAME_MAX]; /* from the query, decoded */
    sym_str_t url;                /* "~/PATH" of the source file, in `text` */
    char text[SYM_MAKE_TEXT_MAX];
} sym_file_request_t;

#endif
