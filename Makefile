# Builds everything into build/ (or build-asan/ with SAN=1, build-cov/ ...).
#
#   make            symloader and the nginx module
#   make module     only the nginx module; for another nginx than Debian's:
#                   NGINX_SRC=FOLDER NGINX_FLAGS='--with-compat ...'
#   make unit       the C unit tests, into build/unit/, and programs of other tests
#   make bench      the C programs of bench/
#   make headers    checks that every public header compiles alone
#   make install    into PREFIX and nginx's folder of modules, below DESTDIR
#
# ./dev is the usual way to call this: it installs missing packages first.

CC ?= gcc
BUILD ?= build
NGINX_SRC ?= /usr/share/nginx/src
PREFIX ?= /usr/local

# A newer compiler that warns of more must not break anyone's build: .ci/run sets
# WERROR=-Werror.  A deprecated function is an error for lint alone.
WARN = -std=c11 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -Wconversion -Wshadow \
       -Wstrict-prototypes -Wmissing-prototypes -Wvla \
       $(if $(WERROR),-Wno-error=deprecated-declarations)
# with sanitizers -O2 takes twice as long to compile, and finds no more errors
OPT ?= $(if $(SAN),-O1,-O2)
CFLAGS ?= -g $(OPT)

ifeq ($(SAN),1)
BUILD := build-asan
SANFLAGS = -fsanitize=address,undefined -fno-sanitize-recover=undefined \
           -fno-omit-frame-pointer
else
HARDEN = -fstack-protector-strong -D_FORTIFY_SOURCE=2
endif

# unpacks a section while it is read; not available for every processor
ISAL_LIBS := $(shell pkg-config --libs libisal 2>/dev/null)
ISAL_CFLAGS := $(if $(ISAL_LIBS),-DSYM_HAVE_ISAL)

ALL_CFLAGS = $(WARN) $(CFLAGS) $(SANFLAGS) -fPIC -fvisibility=hidden -Icore \
             -Iloader -MMD -MP $(ISAL_CFLAGS)
# libiberty exists only as an archive
CORE_LIBS = -llmdb -ljansson -lpcre2-8 -lz -lcrypto -lzstd -llzma -ldeflate \
            $(ISAL_LIBS) -lexpat -liberty
# in tests named *_oom the n-th allocation fails
OOM_LDFLAGS = -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
# in tests named *_faults the n-th write to LMDB fails
FAULTS_LDFLAGS = -Wl,--wrap=mdb_put,--wrap=mdb_del,--wrap=mdb_cursor_del \
                 -Wl,--wrap=mdb_cursor_open,--wrap=mdb_env_open \
                 -Wl,--wrap=mdb_txn_commit
# compression formats of symbol files
UNPACK_LIBS = -lz -lzstd -llzma -ldl
# libcrypto is loaded when it is needed (loader/common/libcrypto.c); only requests
# contain regular expressions
LOADER_LIBS = $(filter-out -lcrypto -lpcre2-8,$(CORE_LIBS)) $(UNPACK_LIBS) -lseccomp -lpthread

CORE_SRC := $(sort $(shell find core -name '*.c'))
CORE_OBJ := $(CORE_SRC:%.c=$(BUILD)/%.o)
LOADER_SRC := $(sort $(wildcard loader/*/*.c))
LOADER_OBJ := $(LOADER_SRC:%.c=$(BUILD)/%.o)
UNPACK_OBJ := $(filter $(BUILD)/loader/unpack/%,$(LOADER_OBJ))
UNIT_SRC := $(sort $(wildcard t/unit/*.c))
UNIT_BIN := $(UNIT_SRC:t/unit/%.c=$(BUILD)/unit/%.t)
BENCH_BIN := $(patsubst bench/%.c,$(BUILD)/bench/%,$(sort $(wildcard bench/*.c)))
FLEET_SRC := $(sort $(wildcard bench/fleet/*.c))
FLEET_BIN := $(BUILD)/bench/fleet/fleet
FUZZ_BIN := $(patsubst fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard fuzz/fuzz_*.c)))
HEADERS := $(sort $(shell find core -name '*.h'))

.PHONY: all module unit test-tools bench fuzz headers install clean
.SECONDARY:

all: $(BUILD)/symloader module

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

# C++, in LLVM's headers; links no C++ library.
$(BUILD)/core/demangle/llvm.o: core/demangle/llvm.cpp core/demangle/llvm.sh \
    core/demangle/languages.h Makefile
	@mkdir -p $(@D)
	CC='$(CC)' core/demangle/llvm.sh $@ $(CFLAGS) $(SANFLAGS)

$(BUILD)/libsymcore.a: $(CORE_OBJ) $(BUILD)/core/demangle/llvm.o
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/symloader: $(LOADER_OBJ) $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $^ -o $@ $(LOADER_LIBS)

module:
	@+NGINX_FLAGS='$(NGINX_FLAGS)' CC='$(CC)' \
	    MODULE_CFLAGS='$(CFLAGS) $(SANFLAGS) $(HARDEN) $(if $(WERROR),,-Wno-error)' \
	    MODULE_LDFLAGS='$(SANFLAGS) -Wl,-z,relro -Wl,-z,now' \
	    ./ngx_symbolicate_module/build.sh $(NGINX_SRC) $(BUILD)

# Programs that tests in t/ run.
test-tools: $(BUILD)/t/symloader-faults $(BUILD)/t/sign \
    $(BUILD)/t/elfdump $(BUILD)/t/dwarf_lookup $(BUILD)/t/machodump \
    $(BUILD)/t/filt $(BUILD)/t/paths $(BUILD)/t/libdwarf_read $(BUILD)/t/bin/made \
    $(BUILD)/t/fixtures/made $(FLEET_BIN)

unit: $(UNIT_BIN) test-tools

$(BUILD)/unit/%.t: $(BUILD)/t/unit/%.o $(BUILD)/libsymcore.a
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(if $(filter %_oom,$*),$(OOM_LDFLAGS)) \
	    $(if $(filter %_faults,$*),$(FAULTS_LDFLAGS)) \
	    $(CORE_LIBS) -lpthread

# The loader's replacement for a linked libcrypto.
$(BUILD)/unit/libcrypto.t: $(BUILD)/loader/common/libcrypto.o

bench: $(BENCH_BIN) $(FLEET_BIN)

$(FLEET_BIN): $(FLEET_SRC:%.c=$(BUILD)/%.o) $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS) -lm

$(BENCH_BIN): $(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS) -lm

# Called by fuzz/run, which sets the compiler, flags and folder.
fuzz: $(FUZZ_BIN)

$(FUZZ_BIN): $(BUILD)/fuzz/%: $(BUILD)/fuzz/%.o $(BUILD)/fuzz/steps.o \
    $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) -fsanitize=fuzzer $(filter %.o,$^) \
	    -Wl,--wrap=__sanitizer_cov_trace_pc \
	    -Wl,--wrap=LLVMFuzzerTestOneInput $(BUILD)/libsymcore.a -o $@ $(CORE_LIBS) $(FUZZ_LIBS)

# The only part of the loader that is fuzzed in process.
$(BUILD)/fuzz/fuzz_input: $(UNPACK_OBJ)
$(BUILD)/fuzz/fuzz_input: FUZZ_LIBS = $(UNPACK_LIBS)

# The loader with a converter that can be told to misbehave, and of another
# version, for t/loader_*.t and t/serve_*.t.
$(BUILD)/t/faults/%.o: loader/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DSYM_TEST_FAULTS -c $< -o $@

$(BUILD)/t/symloader-faults: $(BUILD)/t/faults/converter/convert.o \
    $(BUILD)/t/faults/daemon/places.o $(BUILD)/t/faults/faults.o \
    $(filter-out %/convert.o %/places.o,$(LOADER_OBJ)) \
    $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $(LDFLAGS) $^ -o $@ $(LOADER_LIBS)

# The tools of tests, each with a time limit: a link for each.
$(BUILD)/t/limit: $(BUILD)/t/tools/limit.o
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@

$(BUILD)/t/bin/made: t/lib/tools $(BUILD)/t/limit
	@rm -rf $(@D)
	@mkdir -p $(@D)
	@for tool in $$(sed -n 's/^[^#:]*: //p' $<); do \
	    ln -s ../limit $(@D)/$$tool || exit 1; \
	done
	@touch $@

# Replacements of real files in a clone without them: t/lib/SymFixtures.pm.
$(BUILD)/t/fixtures/made: t/lib/made_fixtures.py t/lib/made_crash.cc
	@rm -rf $(@D)
	python3 t/lib/made_fixtures.py $(@D)
	@touch $@

# Signs requests for t/s3rver.t.
$(BUILD)/t/sign: $(BUILD)/t/s3rver/sign.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS)

# Prints what core/formats/elf finds, for t/elf_*.t.
$(BUILD)/t/elfdump: $(BUILD)/t/elf/dump.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS)

# Answers from DWARF of an ELF file, for t/dwarf_accuracy.t.
$(BUILD)/t/dwarf_lookup: $(BUILD)/t/dwarf/lookup.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS)

# Prints what core/formats/macho finds, for t/macho.t.
$(BUILD)/t/machodump: $(BUILD)/t/macho/dump.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS)

# Prints the records of paths in a store, for t/serve_paths.t.
$(BUILD)/t/paths: $(BUILD)/t/store/paths.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS)

# Demangles names with core/demangle, for t/demangle.t.
$(BUILD)/t/filt: $(BUILD)/t/demangle/filt.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(CORE_LIBS)

# Prints what libdwarf finds, for t/dwarf_libdwarf.t.  Debian 12's has no
# pkg-config file; LIBDWARF_CFLAGS and LIBDWARF_LIBS choose another one.
LIBDWARF_CFLAGS ?= $(shell pkg-config --cflags libdwarf 2>/dev/null) \
    -I/usr/include/libdwarf
LIBDWARF_LIBS ?= -ldwarf

$(BUILD)/t/libdwarf/%.o: ALL_CFLAGS += $(LIBDWARF_CFLAGS)

$(BUILD)/t/libdwarf_read: $(BUILD)/t/libdwarf/read.o \
    $(BUILD)/t/libdwarf/object.o $(BUILD)/libsymcore.a
	$(CC) $(CFLAGS) $(SANFLAGS) $^ -o $@ $(LIBDWARF_LIBS) $(CORE_LIBS)

headers: $(HEADERS:%=$(BUILD)/%.ok)

$(BUILD)/%.h.ok: %.h
	@mkdir -p $(@D)
	$(CC) $(WARN) -Icore -fsyntax-only -x c $<
	@touch $@

# Where the nginx of this machine searches for modules, by default.
NGINX_MODULES ?= $(or $(shell nginx -V 2>&1 \
    | sed -n 's/.*--modules-path=\([^ ]*\).*/\1/p'),/usr/lib/nginx/modules)

install: all
	install -D -m 755 $(BUILD)/symloader $(DESTDIR)$(PREFIX)/bin/symloader
	install -D -m 644 docs/use/symloader.1 \
	    $(DESTDIR)$(PREFIX)/share/man/man1/symloader.1
	install -D -m 644 $(BUILD)/ngx_http_symbolicate_module.so \
	    $(DESTDIR)$(NGINX_MODULES)/ngx_http_symbolicate_module.so
	packaging/completion/install $(DESTDIR)$(PREFIX)/share
	install -d $(DESTDIR)$(PREFIX)/share/doc/ngx-symbolicate/conf.example
	install -m 644 $(wildcard conf.example/*) \
	    $(DESTDIR)$(PREFIX)/share/doc/ngx-symbolicate/conf.example

clean:
	rm -rf build build-*

-include $(CORE_OBJ:.o=.d) $(LOADER_OBJ:.o=.d) $(UNIT_SRC:%.c=$(BUILD)/%.d) \
    $(wildcard $(BUILD)/t/faults/*.d $(BUILD)/t/faults/*/*.d $(BUILD)/t/s3rver/*.d \
         $(BUILD)/t/elf/*.d $(BUILD)/t/dwarf/*.d $(BUILD)/t/macho/*.d \
         $(BUILD)/t/demangle/*.d $(BUILD)/t/libdwarf/*.d $(BUILD)/t/store/*.d \
         $(BUILD)/t/tools/*.d) \
         $(BENCH_BIN:=.d) $(FUZZ_BIN:=.d)
