/*
 * write_all.h - writes all bytes, despite short writes.
 */
#ifndef SYMLOADER_COMMON_WRITE_ALL_H
#define SYMLOADER_COMMON_WRITE_ALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: errno has the reason; a part may have been written. */
bool write_all_at(int fd, const void *data, size_t len, uint64_t at);

#endif
