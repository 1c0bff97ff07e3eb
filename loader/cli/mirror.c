/*
 * mirror.c - `symloader mirror`: sends debug packages of a distribution, or debug
 * files of a debuginfod, to a server with uploads (docs/use/packages.md).
 *
 * Each item is downloaded to a temporary file without a name, checked, and
 * posted.  An item that the server has taken is noted before the next one
 * begins, so a signal may end the process at any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/digits.h"
#include "base/sha256.h"
#include "base/uri.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "cli/mirror_index.h"
#include "cli/mirror_state.h"
#include "cli/package.h"
#include "cli/post.h"
#include "common/now.h"
#include "common/write_all.h"
#include "json/load.h"

#define COMMAND "mirror"
#define URL_MAX 4096
#define HEADERS_MAX 1024
#define PIECE_BYTES 65536

/* Packed; unpacked it may have --max-expanded. */
#define INDEX_MAX ((uint64_t) 1 << 30)

/* This number of items in a row without an answer, or with one that says that the
 * server cannot, show that it is of no use to go on. */
#define TROUBLES_MAX 10

typedef enum { SENT, SAME, REFUSED, FAILED, DONE_BEFORE, OUTCOMES } outcome_t;

typedef struct {
    const char *shown;  /* its name in messages */
    const char *path;   /* below the source */
    const char *posted; /* path below the server, which names a debug file */
    mirror_key_t key;
    const sym_package_content_t *content; /* NULL: not known */
} item_t;

typedef struct {
    const options_t *options;
    const char *key; /* NULL: none */
    mirror_state_t state;
    uint64_t counts[OUTCOMES], sent_bytes;
    unsigned troubles; /* in a row */
    bool is_over;

    /* the download */
    const char *from; /* URL or path */
    int spool;
    uint64_t length, most;
    int64_t begun_ns;
    const char *why; /* reason why the sink wants no more, or NULL */
} mirror_t;


/* --- download --- */

/* Sleeps until the rate allows the bytes that have come. */
static void
slow_down(const mirror_t *m)
{
    const uint64_t rate = m->options->rate;
    struct timespec left;
    int64_t ns;

    if (rate == 0) {
        return;
    }

    ns = m->begun_ns + (int64_t) ((double) m->length * 1e9 / (double) rate)
         - now_ns();
    if (ns > 0) {
        left = (struct timespec){ .tv_sec = ns / 1000000000,
                                  .tv_nsec = ns % 1000000000 };
        while (nanosleep(&left, &left) != 0 && errno == EINTR) {
        }
    }
}


static bool
take(void *ctx, const char *data, size_t len)
{
    mirror_t *m = ctx;

    if (len > m->most - m->length) {
        m->why = "it is larger than it may be";
        return false;
    }

    if (!write_all_at(m->spool, data, len, m->length)) {
        m->why = strerror(errno);
        return false;
    }

    m->length += len;
    slow_down(m);
    return true;
}


static const char *
copy_file(mirror_t *m)
{
    const int fd = open(m->from, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char piece[PIECE_BYTES];
    const char *why = NULL;
    ssize_t n;

    if (fd < 0) {
        return strerror(errno);
    }

    do {
        n = read(fd, piece, sizeof(piece));
    } while (n > 0 && take(m, piece, (size_t) n));

    if (n < 0) {
        why = strerror(errno);
    }
    close(fd);
    return why;
}


static bool
is_url(const char *text)
{
    return strstr(text, "://") != NULL;
}


/* Writes the URL, or path, of a path below the source; false: it is too long. */
static bool
locate(const char *source, const char *path, char out[URL_MAX])
{
    const bool is_encoded = is_url(source);
    size_t len = strlen(source);
    char *p = out;

    len -= len != 0 && source[len - 1] == '/';
    while (path[0] == '.' && path[1] == '/') { /* of a flat repository */
        path += 2;
    }

    if (len + 1 + 3 * strlen(path) >= URL_MAX) {
        return false;
    }

    memcpy(p, source, len);
    p += len;
    *p++ = '/';
    for (; *path != '\0'; path++) {
        if (*path == '/' || !is_encoded) {
            *p++ = *path;
        } else {
            p += sym_uri_encode_byte(*path, p);
        }
    }

    *p = '\0';
    return true;
}


static void
note_trouble(mirror_t *m, const post_answer_t *answer)
{
    m->troubles = post_is_trouble(answer) ? m->troubles + 1 : 0;
}


/* Gets a file of at most `most` bytes into the spool.  False: the error was
 * printed to stderr. */
static bool
download(mirror_t *m, const char *shown, const char *path, uint64_t most)
{
    const post_sink_t sink = { take, m, m->options->fetch_timeout_s };
    const char *source = m->options->operands[0], *why;
    post_answer_t answer = { .status = 200 };
    char from[URL_MAX];
    unsigned tries = 0;

    if (!locate(source, path, from)) {
        complain_about(shown, "the URL is too long");
        return false;
    }

    do {
        m->from = from;
        m->why = NULL;
        m->length = 0;
        m->most = most;
        m->begun_ns = now_ns();
        if (ftruncate(m->spool, 0) != 0) {
            why = strerror(errno);
            break;
        }
        why = is_url(source) ? post_get(from, &sink, &answer) : copy_file(m);
    } while (post_again(&answer, tries++));

    if (why == NULL && m->why == NULL && answer.status == 200) {
        return true;
    }

    note_trouble(m, &answer);
    if (why != NULL || m->why != NULL) {
        complain_about(shown, "%s: %s", from, why != NULL ? why : m->why);
    } else {
        complain_about(shown, "%s: status %u", from, answer.status);
    }

    return false;
}


/* Returns NULL, or what is wrong. */
static const char *
verify(const mirror_t *m, const sym_package_content_t *content)
{
    sym_sha256_t digest;
    bool is_hashed;
    void *map;

    if (m->length == 0) {
        return "it is empty";
    }

    if (content == NULL) {
        return NULL;
    }

    if (m->length != content->size_bytes) {
        return "its size is not that in the index";
    }

    if (content->digest_len != sizeof(digest)) {
        return NULL; /* Alpine: it is not of the whole package */
    }

    map = mmap(NULL, (size_t) m->length, PROT_READ, MAP_PRIVATE, m->spool, 0);
    if (map == MAP_FAILED) {
        return "cannot map a temporary file";
    }

    is_hashed = sym_sha256(sym_str(map, (size_t) m->length), &digest);
    munmap(map, (size_t) m->length);
    if (!is_hashed) {
        return "cannot compute its SHA-256";
    }

    return memcmp(&digest, content->digest, sizeof(digest)) != 0
               ? "its SHA-256 is not that in the index"
               : NULL;
}


/* --- upload --- */

/* Whether the answer has the list of files that uploads are answered with: a proxy
 * or another server may answer any request with 200. */
static bool
has_files(const post_answer_t *answer)
{
    sym_error_t err = { 0 };
    sym_json_t json;
    bool is_there;

    is_there = sym_json_load(&json, answer->body, SYM_JSON_TRUSTED_MAX, 0,
                             "the answer is not JSON", &err)
                   == SYM_OK
               && json_is_array(json_object_get(json.root, "files"));
    sym_json_drop(&json);
    return is_there;
}


static outcome_t
outcome_of(mirror_t *m, const post_answer_t *answer)
{
    switch (answer->status) {
    case 201:
    case 200:
        if (has_files(answer)) {
            return answer->status == 201 ? SENT : SAME;
        }
        m->troubles++;
        return FAILED;
    case 400:
    case 413:
        return REFUSED;
    case 401:
    case 403:
        m->is_over = true; /* so would be all others */
        return REFUSED;
    default:
        note_trouble(m, answer);
        return FAILED;
    }
}


static outcome_t
upload(mirror_t *m, const item_t *item)
{
    const post_file_t file = { { NULL, 0 }, m->spool, 0, m->length };
    char server[URL_MAX], headers[HEADERS_MAX];
    const char *why;
    post_answer_t answer;
    unsigned tries = 0;
    outcome_t outcome;

    if (!locate(m->options->server, item->posted, server)) {
        complain_about(item->shown, "the URL is too long");
        return FAILED;
    }

    (void) snprintf(headers, sizeof(headers), "%s%s%s",
                    m->key != NULL ? "Authorization: Bearer " : "",
                    m->key != NULL ? m->key : "", m->key != NULL ? "\r\n" : "");

    do {
        why = post_file(server, headers, &file, &answer);
    } while (post_again(&answer, tries++));

    outcome = outcome_of(m, &answer);
    if (why != NULL) {
        complain_about(item->shown, "%s: %s", server, why);
    } else if (outcome == FAILED && answer.status < 300) {
        complain_about(item->shown,
                       "%s: status %u, but not the answer to an upload", server,
                       answer.status);
    } else if (outcome == REFUSED || outcome == FAILED) {
        post_complain(item->shown, &answer);
    }

    free(answer.data);
    return outcome;
}


/* --- items --- */

static outcome_t
move(mirror_t *m, const item_t *item)
{
    const uint64_t most = item->content != NULL ? item->content->size_bytes
                                                : m->options->max_expanded;
    const char *why;

    if (!download(m, item->shown, item->path, most)) {
        return FAILED;
    }

    why = verify(m, item->content);
    if (why != NULL) {
        complain_about(item->shown, "%s", why);
        return FAILED;
    }

    return upload(m, item);
}


static void
count_done(mirror_t *m, const item_t *item, outcome_t outcome)
{
    char size[OUTPUT_SIZE_TEXT];

    m->troubles = 0;
    m->sent_bytes += m->length;
    m->is_over |= !mirror_state_add(&m->state, &item->key);
    if (!m->options->quiet) {
        say("%s: %s, %s", item->shown, outcome == SENT ? "sent" : "same",
            output_size(m->length, size));
    }
}


static void
do_item(mirror_t *m, const item_t *item)
{
    outcome_t outcome = DONE_BEFORE;

    if (!mirror_state_has(&m->state, &item->key)) {
        outcome = move(m, item);
    }

    m->counts[outcome]++;
    if (outcome == SENT || outcome == SAME) {
        count_done(m, item, outcome);
    } else if (m->troubles == TROUBLES_MAX) {
        complain_about(COMMAND, "%u failures in a row: no more is tried",
                       TROUBLES_MAX);
        m->is_over = true;
    }
}


/* The length of what begins a path in the index: for instance, that of "debug/"
 * in "debug/repodata/repomd.xml". */
static size_t
base_len(sym_package_from_t from, const char *index)
{
    static const char repodata[] = "repodata/";
    const char *slash = strrchr(index, '/');
    size_t len = slash != NULL ? (size_t) (slash + 1 - index) : 0;

    if (from == SYM_PACKAGE_DEBIAN) {
        return 0;
    }

    if ((from == SYM_PACKAGE_RPM || from == SYM_PACKAGE_RPM_LIST)
        && len >= sizeof(repodata) - 1
        && memcmp(index + len - (sizeof(repodata) - 1), repodata,
                  sizeof(repodata) - 1)
               == 0)
    {
        len -= sizeof(repodata) - 1;
    }

    return len;
}


/* Writes the path of an entry below the source, and checks what the index says of
 * it.  False: the error was printed to stderr, and counted. */
static bool
read_entry(mirror_t *m, const sym_package_entry_t *entry, char path[URL_MAX],
           sym_package_content_t *content)
{
    const char *index = m->options->operands[1];
    const size_t len = base_len(entry->from, index);
    const char *why = sym_package_entry_check(entry, content);

    if (why == NULL && len + strlen(entry->path) >= URL_MAX) {
        why = "the path is too long";
    }

    if (why != NULL) {
        complain_about(entry->name, "%s", why);
        m->counts[FAILED]++;
        return false;
    }

    memcpy(path, index, len);
    memcpy(path + len, entry->path, strlen(entry->path) + 1);
    return true;
}


static void
do_package(mirror_t *m, const sym_package_entry_t *entry)
{
    const char *match = m->options->match;
    sym_package_content_t content;
    char path[URL_MAX];
    item_t item = {
        .shown = entry->name, .path = path, .posted = "", .content = &content
    };

    if ((match != NULL && fnmatch(match, entry->name, 0) != 0)
        || !read_entry(m, entry, path, &content))
    {
        return;
    }

    item.key.len = content.digest_len;
    memcpy(item.key.bytes, content.digest, content.digest_len);
    do_item(m, &item);
}


/* Reads the index in the spool.  An index may be a list with another one, which
 * *next gets.  False: not the complete index was read. */
static bool
do_entries(mirror_t *m, sym_package_entry_t *next)
{
    sym_package_entry_t entry;
    bool is_complete = false;
    mirror_index_t in;

    next->name[0] = '\0';
    if (!mirror_index_open(&in, m->options, m->spool)) {
        return false;
    }

    /* the process has its own descriptor of the index */
    close(m->spool);
    m->spool = package_spool();
    m->is_over = m->spool < 0;

    while (!m->is_over && mirror_index_next(&in, &entry, &is_complete)) {
        if (entry.from == SYM_PACKAGE_RPM_LIST) {
            *next = entry;
        } else {
            do_package(m, &entry);
        }
    }

    mirror_index_close(&in);
    return is_complete || m->is_over;
}


/* The index that a list of indexes names. */
static bool
do_listed(mirror_t *m, const sym_package_entry_t *list)
{
    sym_package_entry_t none;
    sym_package_content_t content;
    char path[URL_MAX];
    const char *why;

    if (!read_entry(m, list, path, &content)
        || !download(m, path, path,
                     content.size_bytes < INDEX_MAX ? content.size_bytes
                                                    : INDEX_MAX))
    {
        return false;
    }

    why = verify(m, &content);
    if (why != NULL) {
        complain_about(path, "%s", why);
        return false;
    }

    if (!do_entries(m, &none)) {
        return false;
    }

    if (none.name[0] != '\0') {
        complain_about(path, "it is a list of indexes");
    }
    return none.name[0] == '\0';
}


/* False: not the complete index was read. */
static bool
do_index(mirror_t *m)
{
    const char *index = m->options->operands[1];
    sym_package_entry_t next;

    if (!download(m, index, index, INDEX_MAX) || !do_entries(m, &next)) {
        return false;
    }

    return next.name[0] == '\0' || m->is_over || do_listed(m, &next);
}


static void
do_id(mirror_t *m, sym_str_t digits)
{
    char id[2 * MIRROR_KEY_MAX + 1], path[sizeof(id) + 32];
    char posted[sizeof(path)];
    item_t item = { .shown = id, .path = path, .posted = posted };

    (void) snprintf(id, sizeof(id), "%.*s", (int) digits.len, digits.data);
    if (!mirror_key_read(&item.key, digits.data, digits.len)) {
        complain_about(id, "not a build id");
        m->counts[FAILED]++;
        return;
    }

    /* debuginfod(8): in lower case */
    id[sym_digits_write_lower(item.key.bytes, item.key.len, id)] = '\0';
    (void) snprintf(path, sizeof(path), "buildid/%s/debuginfo", id);
    (void) snprintf(posted, sizeof(posted), "%s.debug", id);
    do_item(m, &item);
}


static void
do_lines(mirror_t *m, lines_t *lines)
{
    sym_str_t line, word;

    while (!m->is_over && lines_next(lines, &line)) {
        if (lines_word(&line, &word) && word.data[0] != '#') {
            do_id(m, word);
        }
    }
}


static bool
do_ids(mirror_t *m)
{
    const char *path = m->options->ids;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    lines_t lines;
    ssize_t n;

    if (fd < 0) {
        complain_about(path, "%s", strerror(errno));
        return false;
    }

    lines.have = lines.taken = 0;
    do {
        n = lines_read(&lines, fd);
        do_lines(m, &lines);
    } while (n > 0 && !m->is_over);

    if (n < 0) {
        complain_about(path, "cannot read it");
    }
    close(fd);
    return n >= 0;
}


/* --- the command --- */

static bool
check_options(const options_t *o)
{
    const int wanted = o->ids != NULL ? 1 : 2;

    if (o->server == NULL) {
        complain_about(COMMAND, "it needs --server URL");
    } else if (o->n_operands != wanted) {
        complain_about(COMMAND, "%s",
                       o->ids != NULL
                           ? "--ids needs one operand, a debuginfod"
                           : "it needs a repository and the path of an index");
    }

    return o->server != NULL && o->n_operands == wanted;
}


static void
print_counts(const mirror_t *m, int64_t begun_ms)
{
    char size[OUTPUT_SIZE_TEXT];

    say("%" PRIu64 " sent, %" PRIu64 " same, %" PRIu64 " refused, %" PRIu64
        " failed, %" PRIu64 " done before; %s in %" PRId64 " s",
        m->counts[SENT], m->counts[SAME], m->counts[REFUSED], m->counts[FAILED],
        m->counts[DONE_BEFORE], output_size(m->sent_bytes, size),
        (now_ms() - begun_ms) / 1000);
}


int
mirror_run(const options_t *options)
{
    mirror_t m = { .options = options };
    const int64_t begun_ms = now_ms();
    bool is_complete = false;

    if (!check_options(options) || !post_key(&m.key)) {
        return EXIT_USAGE;
    }

    if (options->state != NULL && !mirror_state_open(&m.state, options->state))
    {
        return EXIT_PARTLY;
    }

    setvbuf(stdout, NULL, _IOLBF, 0); /* each line as it becomes true */
    m.spool = package_spool();
    if (m.spool >= 0) {
        is_complete = options->ids != NULL ? do_ids(&m) : do_index(&m);
    }

    if (m.spool >= 0) {
        close(m.spool);
        print_counts(&m, begun_ms);
    } else {
        complain_about(COMMAND,
                       "cannot make a temporary file in $TMPDIR or "
                       "/var/tmp: %s",
                       strerror(errno));
    }

    mirror_state_close(&m.state);
    return is_complete && !m.is_over && m.counts[REFUSED] == 0
                   && m.counts[FAILED] == 0
               ? EXIT_FINE
               : EXIT_PARTLY;
}
