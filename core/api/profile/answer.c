#include "api/profile/profile.h"

#include "base/steps.h"

/* Bytes that are copied in the time of a frame. */
#define COPIED_PER_FRAME 4096

/* Fields of messages that are written. */
enum {
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINES = 10
};

/* Room for a message of numbers, with its tag and length. */
#define NUMBERS_MAX 64

/* A line: tag, length, and two numbers with their tags. */
#define LINE_MAX (1 + 1 + 2 * (1 + SYM_PB_VARINT_MAX))

/* --- writing --- */

static char *
put_varint(char *p, uint64_t value)
{
    return (char *) sym_uleb_write((uint8_t *) p, value);
}


static char *
put_number(char *p, uint32_t field, uint64_t value)
{
    return put_varint(put_varint(p, field << 3 | SYM_PB_VARINT), value);
}


/* The tag and length of a field of bytes. */
static void
write_head(sym_out_t *out, uint32_t field, uint64_t len)
{
    char head[2 * SYM_PB_VARINT_MAX], *p;

    p = put_varint(put_varint(head, field << 3 | SYM_PB_BYTES), len);
    sym_out_raw(out, sym_str(head, (size_t) (p - head)));
}


/* A message that is `bytes` and `more`. */
static void
write_message(sym_out_t *out, uint32_t field, sym_str_t bytes, sym_str_t more)
{
    write_head(out, field, bytes.len + more.len);
    sym_out_raw(out, bytes);
    sym_out_raw(out, more);
}


/* --- texts and functions --- */

/* Writes a text unless it was written.  Its number in the profile is in *number.
 * Bytes that are not UTF-8 would make the profile unreadable: a damaged store. */
static sym_status_t
write_text(profile_t *p, profile_slot_t *slot, sym_str_t text, sym_out_t *out)
{
    if (text.len == 0 || !sym_utf8_valid(text)) {
        slot->number = 0; /* string 0 is "" */
        return SYM_OK;
    }

    write_message(out, PROFILE_STRING, text, SYM_STR(""));
    slot->number = p->n_strings++;
    return SYM_OK;
}


/* The number of a text of the module, as it is stored. */
static sym_status_t
find_text(profile_t *p, uint32_t need, uint32_t ref, uint32_t what,
          sym_out_t *out, uint64_t *number)
{
    profile_slot_t *slot;
    sym_str_t text;

    *number = 0;
    if (ref == SYM_NO_REF) {
        return SYM_OK;
    }

    slot = profile_slot(p->base.arena, &p->numbers, need, ref, what);
    if (slot == NULL) {
        return SYM_NOMEM;
    }

    if (slot->number == 0) {
        if (!sym_resolver_text(p->base.resolver, need, ref, &text)) {
            return SYM_NOMEM;
        }
        (void) write_text(p, slot, text, out);
    }

    *number = slot->number;
    return SYM_OK;
}


/* The number of a name as it is shown. */
static sym_status_t
find_name(profile_t *p, uint32_t need, const sym_answer_t *answer,
          uint32_t level, sym_out_t *out, uint64_t *number)
{
    const uint32_t ref = answer->levels[level].name;
    profile_slot_t *slot;
    sym_str_t text;

    *number = 0;
    if (ref == SYM_NO_REF) {
        return SYM_OK;
    }

    slot = profile_slot(p->base.arena, &p->numbers, need, ref, PROFILE_SHOWN);
    if (slot == NULL) {
        return SYM_NOMEM;
    }

    if (slot->number == 0) {
        if (!sym_resolver_name_text(p->base.resolver, need, answer, level,
                                    &text)) {
            return SYM_NOMEM;
        }
        (void) write_text(p, slot, text, out);
    }

    *number = slot->number;
    return SYM_OK;
}


static sym_status_t
write_function(profile_t *p, uint32_t need, const sym_answer_t *answer,
               uint32_t level, sym_out_t *out, uint64_t id)
{
    const sym_level_t *l = &answer->levels[level];
    uint64_t name, system_name, file;
    char numbers[NUMBERS_MAX], *end = numbers;
    sym_status_t rc = find_name(p, need, answer, level, out, &name);

    rc = rc != SYM_OK
             ? rc
             : find_text(p, need, l->name, PROFILE_RAW, out, &system_name);
    rc = rc != SYM_OK ? rc
                      : find_text(p, need, l->file, PROFILE_FILE, out, &file);
    if (rc != SYM_OK) {
        return rc;
    }

    end = put_number(end, FUNCTION_ID, id);
    end = put_number(end, FUNCTION_NAME, name);
    end = put_number(end, FUNCTION_SYSTEM_NAME, system_name);
    end = put_number(end, FUNCTION_FILE, file);
    write_message(out, PROFILE_FUNCTION,
                  sym_str(numbers, (size_t) (end - numbers)), SYM_STR(""));
    return SYM_OK;
}


/* The id of a level's function, which is written if it is new. */
static sym_status_t
find_function(profile_t *p, uint32_t need, const sym_answer_t *answer,
              uint32_t level, sym_out_t *out, uint64_t *id)
{
    const sym_level_t *l = &answer->levels[level];
    const uint64_t new_id = p->max_function + 1 + p->n_functions;
    profile_slot_t *slot =
        profile_slot(p->base.arena, &p->numbers, need, l->name, l->file);
    sym_status_t rc = SYM_OK;

    if (slot == NULL) {
        return SYM_NOMEM;
    }

    if (slot->number == 0) {
        slot->number = new_id; /* the table may move from here on */
        p->n_functions++;
        rc = write_function(p, need, answer, level, out, new_id);
        *id = new_id;
        return rc;
    }

    *id = slot->number;
    return SYM_OK;
}


/* --- locations --- */

static void
write_lines(const profile_t *p, sym_str_t bytes, const sym_answer_t *answer,
            sym_out_t *out)
{
    char lines[SYM_LEVELS_MAX * LINE_MAX], *end = lines;

    for (uint32_t i = 0; i < answer->n_levels; i++) {
        char line[LINE_MAX], *e = line;

        e = put_number(e, LINE_FUNCTION, p->functions[i]);
        e = put_number(e, LINE_LINE, answer->levels[i].line);
        end = put_varint(end, LOCATION_LINE << 3 | SYM_PB_BYTES);
        end = put_varint(end, (uint64_t) (e - line));
        memcpy(end, line, (size_t) (e - line));
        end += e - line;
    }

    write_message(out, PROFILE_LOCATION, bytes,
                  sym_str(lines, (size_t) (end - lines)));
}


/* SYM_AGAIN: enough for now; the functions so far are written. */
static sym_status_t
write_location(profile_t *p, const profile_next_t *next, sym_str_t bytes,
               sym_out_t *out, uint32_t *budget)
{
    sym_resolver_t *resolver = p->base.resolver;
    const uint32_t need = p->questions[next->question].module;
    sym_answer_t answer = { 0 };

    (void) sym_resolver_answer(resolver, next->question, &answer);

    while (p->n_levels < answer.n_levels) {
        sym_status_t rc;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        rc = find_function(p, need, &answer, p->n_levels, out,
                           &p->functions[p->n_levels]);
        if (rc != SYM_OK) {
            return rc;
        }

        p->n_levels++;
        sym_budget_charge(budget, 1);
        sym_resolver_charge(resolver, budget);
    }

    write_lines(p, bytes, &answer, out);
    return SYM_OK;
}


/* The address in the module of a location.  False: no module has it. */
static bool
ask(const profile_t *p, const profile_location_t *l, sym_question_t *question)
{
    const profile_mapping_t *m = profile_mapping(p, l->mapping);
    sym_resolver_t *resolver = p->base.resolver;
    uint64_t addr;

    if (m == NULL || m->need == PROFILE_NO_NEED
        || p->base.needs[m->need].found != SYM_NEED_FOUND)
    {
        return false;
    }

    if (m->start == 0 && m->limit == 0) {
        /* the mapping has no place: the address is the file's own */
        addr = l->address - sym_resolver_image_base(resolver, m->need);
    } else if (l->address < m->start
               || (m->limit != 0 && l->address >= m->limit)
               || !sym_resolver_offset(
                   resolver, m->need, l->address - m->start + m->offset, &addr))
    {
        return false;
    }

    *question = (sym_question_t){ m->need, (uint32_t) addr };
    return addr <= UINT32_MAX;
}


/* Looks up the locations that follow each other from `at` on. */
static void
ask_chunk(profile_t *p, uint32_t budget)
{
    const double started = p->base.options->now_s();
    const uint32_t most =
        budget < SYM_RESOLVE_CHUNK ? budget : SYM_RESOLVE_CHUNK;
    sym_error_t err = { 0 };
    sym_cursor_t c = profile_cursor(p, &err);
    uint32_t n_questions = 0;
    size_t at = p->at;
    sym_pb_field_t f;

    p->n_chunk = 0;
    p->next = 0;

    while (p->n_chunk < most && sym_pb_next(&c, &f)
           && f.number == PROFILE_LOCATION && f.type == SYM_PB_BYTES)
    {
        profile_next_t *next = &p->chunk[p->n_chunk++];
        profile_location_t location;

        next->at = at;
        next->end = at = (size_t) (c.pos - c.start);
        next->question = PROFILE_NO_NEED;

        if (profile_read_location(f.bytes, &location) && !location.has_lines
            && ask(p, &location, &p->questions[n_questions]))
        {
            next->question = n_questions++;
        }
    }

    sym_resolver_ask(p->base.resolver, p->questions, n_questions);
    p->base.stats.lookup_s += p->base.options->now_s() - started;
}


/* --- mappings --- */

/* pprof then does not look for symbols itself. */
static void
write_mapping(const profile_t *p, sym_str_t bytes, uint32_t number,
              sym_out_t *out)
{
    const profile_mapping_t *m =
        (const profile_mapping_t *) p->mappings.items + number;
    char flags[NUMBERS_MAX], *end = flags;
    uint32_t features;

    if (m->need != PROFILE_NO_NEED
        && p->base.needs[m->need].found == SYM_NEED_FOUND)
    {
        features = sym_resolver_flags(p->base.resolver, m->need);
        end = put_number(end, MAPPING_HAS_FUNCTIONS, 1);
        if ((features & SYM_FLAG_DEBUG_INFO) != 0) {
            end = put_number(end, MAPPING_HAS_FILES, 1);
            end = put_number(end, MAPPING_HAS_LINES, 1);
            end = put_number(end, MAPPING_HAS_INLINES, 1);
        }
    }

    write_message(out, PROFILE_MAPPING, bytes,
                  sym_str(flags, (size_t) (end - flags)));
}


/* --- steps --- */

/* The field at `at`, which is no location. */
static void
copy_field(profile_t *p, const sym_pb_field_t *f, size_t end, sym_out_t *out)
{
    const bool is_message = f->type == SYM_PB_BYTES;

    if (f->number == PROFILE_MAPPING && is_message) {
        write_mapping(p, f->bytes, p->n_mappings++, out);
    } else if (f->number != PROFILE_STRING || !is_message) {
        sym_out_raw(out, sym_str(p->base.body.data + p->at, end - p->at));
    }
}


static sym_status_t
write_next(profile_t *p, const sym_pb_field_t *f, size_t end, sym_out_t *out,
           uint32_t *budget)
{
    const profile_next_t *next;
    sym_status_t rc;

    if (f->number != PROFILE_LOCATION || f->type != SYM_PB_BYTES) {
        copy_field(p, f, end, out);
        return SYM_OK;
    }

    if (p->next == p->n_chunk || p->chunk[p->next].at != p->at) {
        ask_chunk(p, *budget);
    }

    next = &p->chunk[p->next];
    if (next->question == PROFILE_NO_NEED) {
        copy_field(p, f, end, out);
        p->next++;
        return SYM_OK;
    }

    rc = write_location(p, next, f->bytes, out, budget);
    if (rc == SYM_OK) {
        p->next++;
        p->n_levels = 0;
    }

    return rc;
}


static sym_status_t
write_fields(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profile_t *p = (profile_t *) r;
    sym_error_t err = { 0 };
    sym_cursor_t c = profile_cursor(p, &err);
    sym_pb_field_t f;

    while (*budget > 0 && !out->is_full) {
        sym_status_t rc;
        size_t end;

        if (!sym_pb_next(&c, &f)) {
            r->step = NULL;
            return SYM_OK;
        }

        end = (size_t) (c.pos - c.start);
        rc = write_next(p, &f, end, out, budget);
        if (rc != SYM_OK) {
            return rc;
        }

        sym_budget_charge(budget,
                          1 + (uint32_t) ((end - p->at) / COPIED_PER_FRAME));
        p->at = end;
    }

    return SYM_AGAIN;
}


/* All texts of the request come first: numbers of texts count in the order of the
 * answer. */
static sym_status_t
write_strings(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profile_t *p = (profile_t *) r;

    while (p->n_strings < p->strings.n) {
        sym_str_t text;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        text = profile_string(p, p->n_strings++);
        write_message(out, PROFILE_STRING, text, SYM_STR(""));
        sym_budget_charge(budget, 1 + (uint32_t) (text.len / COPIED_PER_FRAME));
    }

    r->step = write_fields;
    return SYM_OK;
}


sym_status_t
profile_begin(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profile_t *p = (profile_t *) r;
    sym_arena_t *arena = r->arena;

    (void) out;
    (void) budget;
    if (p->chunk == NULL) {
        p->chunk =
            sym_arena_alloc(arena, SYM_RESOLVE_CHUNK * sizeof(*p->chunk));
        p->questions =
            sym_arena_alloc(arena, SYM_RESOLVE_CHUNK * sizeof(*p->questions));
        p->functions =
            sym_arena_alloc(arena, SYM_LEVELS_MAX * sizeof(*p->functions));
    }

    if (p->chunk == NULL || p->questions == NULL || p->functions == NULL) {
        return SYM_NOMEM;
    }

    p->at = 0;
    p->n_strings = 0;
    p->n_functions = 0;
    p->n_mappings = 0;
    p->n_chunk = 0;
    p->next = 0;
    p->n_levels = 0;
    p->numbers = (profile_numbers_t){ 0 };
    r->step = write_strings;
    return SYM_OK;
}


bool
profile_resume(sym_request_t *r)
{
    profile_t *p = (profile_t *) r;

    p->n_chunk = 0; /* to be looked up again */
    p->next = 0;
    p->n_levels = 0;
    return true;
}
