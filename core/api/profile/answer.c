#include "api/profile/profile.h"

#include "base/steps.h"

/* Bytes that are copied in the time of a frame. */
#define COPIED_PER_FRAME 4096

/* Fields of messages that both forms have, or only pprof. */
enum {
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


/* An entry of a table, which is `bytes` and `more`. */
static void
write_entry(const profile_t *p, sym_out_t *out, uint32_t table, sym_str_t bytes,
            sym_str_t more)
{
    const size_t len = bytes.len + more.len;
    char head[SYM_PB_VARINT_MAX];

    if (p->form->dictionary != 0) {
        write_head(out, p->form->dictionary,
                   1 + (size_t) (put_varint(head, len) - head) + len);
    }

    write_head(out, table, len);
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

    write_entry(p, out, p->form->string, text, SYM_STR(""));
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

    if (slot->number == 0 && p->is_json) {
        const profile_text_t made = { need, ref, what, SYM_LANG_UNKNOWN };

        if (!profile_json_text(p, &made, &slot->number)) {
            return SYM_NOMEM;
        }
    } else if (slot->number == 0) {
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

    if (slot->number == 0 && p->is_json) {
        const profile_text_t made = { need, ref, PROFILE_SHOWN,
                                      sym_answer_lang(answer, level) };

        if (!profile_json_text(p, &made, &slot->number)) {
            return SYM_NOMEM;
        }
    } else if (slot->number == 0) {
        if (!sym_resolver_name_text(p->base.resolver, need, answer, level,
                                    &text)) {
            return SYM_NOMEM;
        }
        (void) write_text(p, slot, text, out);
    }

    *number = slot->number;
    return SYM_OK;
}


/* Numbers of a function's strings. */
typedef struct {
    uint64_t name, system_name, file;
} texts_t;

static sym_status_t
find_texts(profile_t *p, uint32_t need, const sym_answer_t *answer,
           uint32_t level, sym_out_t *out, texts_t *texts)
{
    const sym_level_t *l = &answer->levels[level];
    sym_status_t rc = find_name(p, need, answer, level, out, &texts->name);

    rc = rc != SYM_OK ? rc
                      : find_text(p, need, l->name, PROFILE_RAW, out,
                                  &texts->system_name);
    return rc != SYM_OK
               ? rc
               : find_text(p, need, l->file, PROFILE_FILE, out, &texts->file);
}


static void
write_function(const profile_t *p, const texts_t *texts, sym_out_t *out,
               uint64_t id)
{
    const profile_form_t *form = p->form;
    char numbers[NUMBERS_MAX], *end = numbers;

    if (form->function_id != 0) {
        end = put_number(end, form->function_id, id);
    }
    end = put_number(end, form->function_name, texts->name);
    end = put_number(end, form->function_system_name, texts->system_name);
    end = put_number(end, form->function_file, texts->file);
    write_entry(p, out, form->function,
                sym_str(numbers, (size_t) (end - numbers)), SYM_STR(""));
}


/* The id of another function.  In OTLP it is a number, and 0 means no function. */
static uint64_t
new_function(profile_t *p, sym_out_t *out)
{
    if (p->form->function_id != 0) {
        return p->max_function + 1 + p->n_functions++;
    }

    if (p->n_functions == 0 && !p->is_json) {
        write_entry(p, out, p->form->function, SYM_STR(""), SYM_STR(""));
        p->n_functions++;
    }

    return p->n_functions++;
}


/* The id of a level's function, which is written if it is new. */
static sym_status_t
find_function(profile_t *p, uint32_t need, const sym_answer_t *answer,
              uint32_t level, sym_out_t *out, uint64_t *id)
{
    const sym_level_t *l = &answer->levels[level];
    profile_slot_t *slot =
        profile_slot(p->base.arena, &p->numbers, need, l->name, l->file);
    texts_t texts;
    sym_status_t rc;

    if (slot == NULL) {
        return SYM_NOMEM;
    }

    if (slot->number != 0) {
        *id = slot->number;
        return SYM_OK;
    }

    *id = new_function(p, out);
    slot->number = *id; /* the table may move from here on */
    rc = find_texts(p, need, answer, level, out, &texts);
    if (rc == SYM_OK && p->is_json) {
        return profile_json_function(p, texts.name, texts.system_name,
                                     texts.file)
                   ? SYM_OK
                   : SYM_NOMEM;
    }

    if (rc == SYM_OK) {
        write_function(p, &texts, out, *id);
    }

    return rc;
}


/* --- locations --- */

static void
write_lines(const profile_t *p, sym_str_t bytes, const sym_answer_t *answer,
            sym_out_t *out)
{
    char lines[SYM_LEVELS_MAX * LINE_MAX], *end = lines;

    for (uint32_t i = 0; i < answer->n_levels; i++) {
        char line[LINE_MAX], *e = line;

        e = put_number(e, LINE_FUNCTION, p->levels[i]);
        e = put_number(e, LINE_LINE, answer->levels[i].line);
        end = put_varint(end,
                         (uint64_t) p->form->location_line << 3 | SYM_PB_BYTES);
        end = put_varint(end, (uint64_t) (e - line));
        memcpy(end, line, (size_t) (e - line));
        end += e - line;
    }

    write_entry(p, out, p->form->location, bytes,
                sym_str(lines, (size_t) (end - lines)));
}


/* SYM_AGAIN: enough for now; the functions so far are written. */
static sym_status_t
write_location(profile_t *p, const profile_next_t *next,
               const profile_field_t *f, sym_out_t *out, uint32_t *budget)
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
                           &p->levels[p->n_levels]);
        if (rc != SYM_OK) {
            return rc;
        }

        p->n_levels++;
        sym_budget_charge(budget, 1);
        sym_resolver_charge(resolver, budget);
    }

    if (p->is_json) {
        profile_json_location(p, f, &answer, out);
    } else {
        write_lines(p, f->pb.bytes, &answer, out);
    }

    return SYM_OK;
}


/*
 * The address in the module.  A mapping without a place has the file's own
 * addresses.  In OTLP so has a location outside of its mapping, and, where the
 * symbols do not say where offsets are, one whose executable is known by its
 * FileID: OpenTelemetry's eBPF profiler writes both (reporter/internal/pdata).
 */
static bool
find_address(const profile_t *p, const profile_location_t *l,
             const profile_mapping_t *m, uint32_t need, uint64_t *addr)
{
    sym_resolver_t *resolver = p->base.resolver;
    const bool is_otlp = p->form == &profile_otlp;
    const bool is_placed = m->start != 0 || m->limit != 0;
    const bool is_inside =
        l->address >= m->start && (m->limit == 0 || l->address < m->limit);

    if (is_placed && is_inside
        && sym_resolver_offset(resolver, need,
                               l->address - m->start + m->offset, addr))
    {
        return true;
    }

    if (is_placed && !(is_otlp && (!is_inside || profile_is_file_id(p, need))))
    {
        return false;
    }

    *addr = l->address - sym_resolver_image_base(resolver, need);
    return true;
}


/* The address in the module of a location.  False: no module has it. */
static bool
ask(const profile_t *p, const profile_location_t *l, sym_question_t *question)
{
    const profile_mapping_t *m = profile_mapping(p, l->mapping);
    const uint32_t need = m != NULL ? profile_found(p, m) : PROFILE_NO_NEED;
    uint64_t addr;

    if (need == PROFILE_NO_NEED || !find_address(p, l, m, need, &addr)) {
        return false;
    }

    *question = (sym_question_t){ need, (uint32_t) addr };
    return addr <= UINT32_MAX;
}


/* Looks up the locations that follow each other from the next field on. */
static void
ask_chunk(profile_t *p, uint32_t budget)
{
    const double started = p->base.options->now_s();
    const uint32_t most =
        budget < SYM_RESOLVE_CHUNK ? budget : SYM_RESOLVE_CHUNK;
    profile_place_t place = p->place;
    sym_error_t err = { 0 };
    uint32_t n_questions = 0, n = 0;
    size_t bytes = 0;
    profile_field_t f;

    p->n_chunk = 0;
    p->next = 0;

    /* each location may be in a dictionary of its own */
    while (n++ < 2 * most && p->n_chunk < most
           && bytes < (size_t) most * PROFILE_BYTES_PER_FRAME
           && profile_next(p, &place, &f, &err)
           && (f.kind == PROFILE_LOCATION || f.kind == PROFILE_DICTIONARY))
    {
        profile_location_t location;
        profile_next_t *next = &p->chunk[p->n_chunk];

        if (f.kind == PROFILE_DICTIONARY) {
            continue;
        }

        bytes += f.end - f.at;
        *next = (profile_next_t){ f.at, PROFILE_NO_NEED };
        p->n_chunk++;
        if (profile_read_location(p->form, f.pb.bytes, false, &location) == NULL
            && !location.has_lines
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
    const uint32_t need = profile_found(p, m);
    char flags[NUMBERS_MAX], *end = flags;

    if (need != PROFILE_NO_NEED) {
        end = put_number(end, MAPPING_HAS_FUNCTIONS, 1);
        if ((sym_resolver_flags(p->base.resolver, need) & SYM_FLAG_DEBUG_INFO)
            != 0) {
            end = put_number(end, MAPPING_HAS_FILES, 1);
            end = put_number(end, MAPPING_HAS_LINES, 1);
            end = put_number(end, MAPPING_HAS_INLINES, 1);
        }
    }

    write_entry(p, out, p->form->mapping, bytes,
                sym_str(flags, (size_t) (end - flags)));
}


/* --- steps --- */

sym_status_t
profile_copy(profile_t *p, sym_str_t range, sym_out_t *out, uint32_t *budget)
{
    while (p->n_copied < range.len) {
        const size_t left = range.len - p->n_copied;
        const size_t n = left < COPIED_PER_FRAME ? left : COPIED_PER_FRAME;

        if (p->n_copied != 0) {
            if (*budget == 0 || out->is_full) {
                return SYM_AGAIN;
            }
            sym_budget_charge(budget, 1);
        }

        sym_out_raw(out, sym_str(range.data + p->n_copied, n));
        p->n_copied += n;
    }

    p->n_copied = 0;
    return SYM_OK;
}


/* Copies a field, of any length. */
static sym_status_t
copy_field(profile_t *p, const profile_field_t *f, sym_out_t *out,
           uint32_t *budget)
{
    const size_t len = f->end - f->at;

    if (p->n_copied == 0 && f->is_inside) {
        write_head(out, p->form->dictionary, len);
    }

    return profile_copy(p, sym_str(p->base.body.data + f->at, len), out,
                        budget);
}


/* A location with lines is copied. */
static sym_status_t
answer_location(profile_t *p, const profile_field_t *f, sym_out_t *out,
                uint32_t *budget)
{
    const profile_next_t *next;
    sym_status_t rc;

    if (p->next == p->n_chunk || p->chunk[p->next].at != f->at) {
        ask_chunk(p, *budget);
    }

    next = &p->chunk[p->next];
    /* a field that is half copied stays a copy in another snapshot */
    rc = next->question == PROFILE_NO_NEED || p->n_copied != 0
             ? copy_field(p, f, out, budget)
             : write_location(p, next, f, out, budget);
    if (rc == SYM_OK) {
        p->next++;
        p->n_levels = 0;
    }

    return rc;
}


static sym_status_t
write_field(profile_t *p, const profile_field_t *f, sym_out_t *out,
            uint32_t *budget)
{
    sym_status_t rc;

    switch (f->kind) {
    case PROFILE_LOCATION:
        return answer_location(p, f, out, budget);
    case PROFILE_DICTIONARY:
        return p->is_json ? copy_field(p, f, out, budget) : SYM_OK;
    case PROFILE_STRING:
    case PROFILE_HIDDEN:
        return SYM_OK;
    case PROFILE_END:
        rc = profile_json_end(p, out, budget);
        return rc != SYM_OK ? rc : copy_field(p, f, out, budget);
    case PROFILE_FUNCTION:
        return p->form == &profile_otlp ? SYM_OK
                                        : copy_field(p, f, out, budget);
    case PROFILE_MAPPING:
        if (p->form == &profile_pprof) {
            write_mapping(p, f->pb.bytes, p->n_mappings++, out);
            return SYM_OK;
        }
        return copy_field(p, f, out, budget);
    default:
        return copy_field(p, f, out, budget);
    }
}


static sym_status_t
write_fields(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profile_t *p = (profile_t *) r;
    sym_error_t err = { 0 };

    while (*budget > 0 && !out->is_full) {
        profile_place_t place = p->place;
        profile_field_t f;
        sym_status_t rc;

        if (!profile_next(p, &place, &f, &err)) {
            r->step = NULL;
            return SYM_OK;
        }

        /* the chunk begins at this field */
        rc = write_field(p, &f, out, budget);
        if (rc != SYM_OK) {
            return rc;
        }

        if (p->is_json) {
            profile_json_written(p, &f);
        }

        sym_budget_charge(budget, 1);
        p->place = place;
    }

    return SYM_AGAIN;
}


/* Copies a table's entries from number *n on. */
static sym_status_t
write_table(const profile_t *p, const sym_list_t *entries, uint32_t table,
            uint64_t *n, sym_out_t *out, uint32_t *budget)
{
    const uint32_t *at = entries->items;

    while (*n < entries->n) {
        sym_str_t entry;

        if (*budget == 0 || out->is_full) {
            return SYM_AGAIN;
        }

        entry = profile_bytes(p, PROFILE_REST, at[(*n)++]);
        write_entry(p, out, table, entry, SYM_STR(""));
        sym_budget_charge(budget,
                          1 + (uint32_t) (entry.len / COPIED_PER_FRAME));
    }

    return SYM_OK;
}


/* All entries of the request come first: numbers of entries count in the order of
 * the answer. */
static sym_status_t
write_tables(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    profile_t *p = (profile_t *) r;
    sym_status_t rc = write_table(p, &p->strings, p->form->string,
                                  &p->n_strings, out, budget);

    if (rc == SYM_OK && p->form == &profile_otlp) {
        rc = write_table(p, &p->functions, p->form->function, &p->n_functions,
                         out, budget);
    }

    if (rc == SYM_OK) {
        r->step = write_fields;
    }

    return rc;
}


static sym_status_t
choose(sym_request_t *r, sym_out_t *out, uint32_t *budget)
{
    (void) out;
    (void) budget;
    profile_choose((profile_t *) r);
    r->step = ((profile_t *) r)->is_json ? write_fields : write_tables;
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
        p->levels = sym_arena_alloc(arena, SYM_LEVELS_MAX * sizeof(*p->levels));
    }

    if (p->chunk == NULL || p->questions == NULL || p->levels == NULL) {
        return SYM_NOMEM;
    }

    p->place = (profile_place_t){ 0 };
    p->n_copied = 0;
    p->n_strings = 0;
    p->n_functions = 0;
    p->n_mappings = 0;
    p->n_chunk = 0;
    p->next = 0;
    p->n_levels = 0;
    p->numbers = (profile_numbers_t){ 0 };
    if (p->is_json) {
        profile_json_begin(p);
    }

    r->step = choose;
    return profile_ask_others(p);
}


bool
profile_resume(sym_request_t *r)
{
    profile_t *p = (profile_t *) r;

    p->n_chunk = 0; /* to be looked up again */
    p->next = 0;
    p->n_levels = 0;
    return !p->is_json || profile_json_resume(p);
}
