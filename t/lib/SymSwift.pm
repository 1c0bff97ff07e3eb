package SymSwift;

# A library that replaces the demangler of Swift, which needs a network to
# install: it exports the same function, shows a name as "<NAME FEATURES>", and
# fails as a name requests.  bench/accuracy/swift uses the real one.

use strict;
use warnings;

use Exporter 'import';

our @EXPORT_OK = qw(swift_library);

my $SOURCE = <<'END';
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int *nowhere;

static int
deeper(int n)
{
    volatile char frame[4096];

    frame[n % 4096] = 1;
    return deeper(n + 1) + frame[(n + 1) % 4096];
}

int
symbolic_demangle_swift(const char *name, char *text, size_t size, int features)
{
    int len;

    if (strstr(name, "crash") != NULL) {
        *nowhere = 1;
    }
    if (strstr(name, "abort") != NULL) {
        abort();
    }
    if (strstr(name, "spin") != NULL) {
        for (;;) {
            *(volatile char *) text = 0;
        }
    }
    if (strstr(name, "deep") != NULL) {
        return deeper(0);
    }
    if (strstr(name, "memory") != NULL) {
        for (;;) {
            memset(malloc(1 << 20), 1, 1 << 20);
        }
    }
    if (strstr(name, "file") != NULL) {
        return open("/etc/passwd", O_RDONLY) >= 0;
    }
    if (strstr(name, "endless") != NULL) {
        memset(text, 'x', size);
        return 1;
    }
    if (strstr(name, "bytes") != NULL) {
        strcpy(text, "\377\376");
        return 1;
    }
    if (strstr(name, "same") != NULL) {
        strcpy(text, name);
        return 1;
    }
    if (strstr(name, "none") != NULL) {
        return 0;
    }
    if (strstr(name, "brief") != NULL) {
        name = "brief";
    }
    len = snprintf(text, size, "<%s %d>", name, features);
    return len > 0 && (size_t) len < size;
}
END

sub swift_library {
    my ($dir) = @_;
    my $library = "$dir/libsymdemangle-swift.so";

    open my $out, '>', "$dir/swift.c" or die "$dir/swift.c: $!";
    print $out $SOURCE;
    close $out or die "$dir/swift.c: $!";
    system('gcc', '-w', '-shared', '-fPIC', '-o', $library, "$dir/swift.c") == 0
        or die "gcc: $?";
    return $library;
}

1;
