/*
 * date.h - times as AWS writes them, always UTC.
 *
 * Times are seconds since 1970, without leap seconds.  The time zone and locale
 * of the process do not matter.
 */
#ifndef SYM_BASE_DATE_H
#define SYM_BASE_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#define SYM_AMZ_DATE_LEN 16 /* 20130524T000000Z; its first 8 are the day */
#define SYM_AMZ_DAY_LEN 8
#define SYM_ISO_DATE_LEN 20

/* The last second of the year 9999. */
#define SYM_DATE_MAX_S 253402300799u

/* Returns false for times after SYM_DATE_MAX_S. */
bool sym_amz_date_write(uint64_t time_s, char out[SYM_AMZ_DATE_LEN]);

/* Writes 2012-05-17T15:09:54Z.  Returns false for times after
 * SYM_DATE_MAX_S. */
bool sym_iso_date_write(uint64_t time_s, char out[SYM_ISO_DATE_LEN]);

/*
 * Reads only the form 2012-05-17T15:09:54Z, without a fraction or another zone,
 * and only valid days from 1970 on.  If it returns false, *time_s is unchanged.
 */
bool sym_iso_date_read(sym_str_t s, uint64_t *time_s);

#endif
