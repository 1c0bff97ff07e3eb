/*
 * write_all.h - writes that are not cut short.
 */
#ifndef SYMLOADER_COMMON_WRITE_ALL_H
#define SYMLOADER_COMMON_WRITE_ALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: see errno; a part may be written. */
bool write_all_at(int fd, const void *data, size_t len, uint64_t at);

#endif
