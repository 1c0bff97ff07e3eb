#include "faults.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/converter_protocol.h"

/* Path of the file that is read. */
#define INPUT_FD (CONVERTER_FD + 1)

/* --- what the sandbox must prevent --- */

static long
open_file(void)
{
    return open("/etc/passwd", O_RDONLY);
}


static long
create_file(void)
{
    return open("/tmp", O_TMPFILE | O_RDWR, 0600);
}


static long
make_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}


static long
make_process(void)
{
    return fork();
}


static long
run_program(void)
{
    char *argv[] = { (char[]){ "true" }, NULL };

    return execv("/bin/true", argv);
}


static long
trace_parent(void)
{
    return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}


static long
signal_parent(void)
{
    return kill(getppid(), SIGTERM);
}


static long
raise_limit(void)
{
    struct rlimit rl = { RLIM_INFINITY, RLIM_INFINITY };

    return setrlimit(RLIMIT_CPU, &rl);
}


static long
catch_signal(void)
{
    return signal(SIGXCPU, SIG_IGN) == SIG_ERR ? -1 : 0;
}


static long
map_code(void)
{
    void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return p == MAP_FAILED ? -1 : 0;
}


static long
map_to_write(void)
{
    void *map =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, INPUT_FD, 0);

    return map == MAP_FAILED ? -1 : 0;
}


/* A converter has only the threads that it started with. */
static long
make_thread(void)
{
    return syscall(SYS_clone, CLONE_VM | CLONE_SIGHAND | CLONE_THREAD, NULL,
                   NULL, NULL, NULL);
}


static long
write_descriptor(void)
{
    return write(STDOUT_FILENO, "x", 1);
}


static long
read_environment(void)
{
    return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}


/* --- what it can do, and the loader must survive --- */

static void
say(const char *what)
{
    converter_failed_t f = { .status = SYM_MALFORMED };

    strncpy(f.what, what, sizeof(f.what) - 1);
    (void) converter_send(CONVERTER_FD, CONVERTER_FAILED, 0, &f, sizeof(f));
}


static void
hang(void)
{
    volatile uint64_t n = 0;

    for (;;) {
        n = n + 1;
    }
}


static void
stall(void)
{
    converter_job_t job;

    (void) converter_receive_job(CONVERTER_FD, &job);
    hang();
}


static void
take_memory(void)
{
    size_t taken = 0, step = (size_t) 1 << 20;

    for (;;) {
        char *p = malloc(step);

        if (p == NULL) {
            say(taken < 512 * step ? "memory was refused" : "escaped: memory");
            return;
        }

        memset(p, 1, step);
        taken += step;

        if (taken > 1024 * step) {
            say("escaped: memory");
            return;
        }
    }
}


/* Effect of a mapped file that became shorter. */
static void
read_past_end(void)
{
    const size_t page = 65536;
    const volatile char *map =
        mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE, INPUT_FD, 0);

    if (map == MAP_FAILED) {
        say("cannot map the file");
        return;
    }

    (void) map[page];
    say("escaped: past the end");
}


static void
crash(void)
{
    volatile uintptr_t nowhere = 8; /* hidden from the compiler */

    *(int *) nowhere = 1;
}


static void
hide(void)
{
    close(CONVERTER_FD);
    hang();
}


static void
send_module(const char *name, uint32_t name_len, const char *id)
{
    converter_module_t m = { .kind = SYM_KIND_SYMCACHE,
                             .name_len = name_len,
                             .id_len = (uint32_t) strlen(id) };

    strncpy(m.name, name, sizeof(m.name) - 1);
    strncpy(m.id, id, sizeof(m.id) - 1);
    (void) converter_send(CONVERTER_FD, CONVERTER_MODULE, 0, &m, sizeof(m));
}


#define GOOD_ID "000102030405060708090A0B0C0D0E0F1"

static void
send_good_module(void)
{
    send_module("evil", 4, GOOD_ID);
}


static void
send_extent(uint32_t number)
{
    (void) converter_send(CONVERTER_FD, CONVERTER_EXTENT, number, "0123456789", 10);
}


static void
send_done(uint32_t extents, uint32_t quality)
{
    converter_done_t done = { .bytes = (uint64_t) extents * 10,
                         .source_bytes = 1,
                         .extents = extents,
                         .quality = quality };

    (void) converter_send(CONVERTER_FD, CONVERTER_DONE, 0, &done, sizeof(done));
}


static void
no_module(void)
{
    send_extent(0);
}


static void
two_modules(void)
{
    send_good_module();
    send_good_module();
}


static void
long_name(void)
{
    send_module("evil", UINT32_MAX, GOOD_ID);
}


static void
path_name(void)
{
    send_module("../evil", 7, GOOD_ID);
}


static void
bad_id(void)
{
    send_module("evil", 4, "no id at all");
}


static void
high_number(void)
{
    send_good_module();
    send_extent(4000000000u);
}


static void
same_number(void)
{
    send_good_module();
    send_extent(0);
    send_extent(0);
}


static void
hole(void)
{
    send_good_module();
    send_extent(0);
    send_extent(2);
    send_done(2, 1);
}


static void
wrong_count(void)
{
    send_good_module();
    send_extent(0);
    send_done(2, 1);
}


static void
nothing(void)
{
    send_good_module();
    send_done(0, 1);
}


static void
wrong_quality(void)
{
    send_good_module();
    send_extent(0);
    send_done(1, 200);
}


static void
unknown_type(void)
{
    (void) converter_send(CONVERTER_FD, (converter_type_t) 77, 0, "x", 1);
}


static void
short_packet(void)
{
    (void) converter_send(CONVERTER_FD, CONVERTER_MODULE, 0, "x", 1);
}


static void
long_packet(void)
{
    static char big[SYM_EXTENT_MAX + 100];

    send_good_module();
    (void) converter_send(CONVERTER_FD, CONVERTER_EXTENT, 0, big, sizeof(big));
}


static void
bad_text(void)
{
    converter_failed_t f = { .status = 4000000000u,
                        .sys_errno = -5,
                        .offset = UINT64_MAX,
                        .line = UINT64_MAX };

    memset(f.what, '\033', sizeof(f.what));
    memset(f.section, 'A', sizeof(f.section));
    (void) converter_send(CONVERTER_FD, CONVERTER_FAILED, 0, &f, sizeof(f));
}


static const struct {
    const char *word;
    long (*forbidden)(void); /* must not return with success */
    void (*act)(void);
} faults[] = {
    { "open", open_file, NULL },
    { "create", create_file, NULL },
    { "socket", make_socket, NULL },
    { "fork", make_process, NULL },
    { "exec", run_program, NULL },
    { "ptrace", trace_parent, NULL },
    { "kill", signal_parent, NULL },
    { "rlimit", raise_limit, NULL },
    { "sigaction", catch_signal, NULL },
    { "code", map_code, NULL },
    { "share", map_to_write, NULL },
    { "thread", make_thread, NULL },
    { "write", write_descriptor, NULL },
    { "prctl", read_environment, NULL },
    { "hang", NULL, hang },
    { "stall", NULL, stall },
    { "memory", NULL, take_memory },
    { "crash", NULL, crash },
    { "shrunk", NULL, read_past_end },
    { "hide", NULL, hide },
    { "no-module", NULL, no_module },
    { "two-modules", NULL, two_modules },
    { "long-name", NULL, long_name },
    { "path-name", NULL, path_name },
    { "bad-id", NULL, bad_id },
    { "high-number", NULL, high_number },
    { "same-number", NULL, same_number },
    { "hole", NULL, hole },
    { "wrong-count", NULL, wrong_count },
    { "nothing", NULL, nothing },
    { "wrong-quality", NULL, wrong_quality },
    { "unknown-type", NULL, unknown_type },
    { "short-packet", NULL, short_packet },
    { "long-packet", NULL, long_packet },
    { "bad-text", NULL, bad_text },
};


static void
act(size_t i)
{
    if (faults[i].act != NULL) {
        faults[i].act();

    } else if (faults[i].forbidden() >= 0) {
        say("escaped");

    } else {
        say("the system call was refused"); /* a build with sanitizers */
    }

    /* Lives on silently: the failure must be detected from what was sent so
     * far. */
    stall();
}


/* Traces that a compromised converter would leave for the next file. */
static void
remember(const char *data, size_t len)
{
    static const char question[] = "INFO FAULT remember\n";
    static unsigned files;

    if (files++ != 0
        && memmem(data, len, question, sizeof(question) - 1) != NULL) {
        say("this converter has read another file");
        stall();
    }
}


void
faults_run(const char *data, size_t len)
{
    static const char magic[] = "FAULT ";
    size_t i;

    remember(data, len);

    if (len <= sizeof(magic) || memcmp(data, magic, sizeof(magic) - 1) != 0) {
        return;
    }

    data += sizeof(magic) - 1;
    len -= sizeof(magic) - 1;

    for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        size_t n = strlen(faults[i].word);

        if (n + 1 == len && memcmp(data, faults[i].word, n) == 0) {
            act(i);
        }
    }
}
