#include "artifacts/jvm/read/frames.h"

#include <string.h>

#include "base/steps.h"

/* Limit on the lines of one member that are returned one by one: R8's range of
 * all lines. */
#define SPAN_MAX 65535

/* Bytes of a signature that is read. */
#define SIGNATURE_MAX ((size_t) 64 << 10)

/* --- names of files --- */

static sym_str_t
after_last(sym_str_t text, char c)
{
    size_t at = text.len;

    while (at > 0 && text.data[at - 1] != c) {
        at--;
    }

    return sym_str(text.data + at, text.len - at);
}


static sym_str_t
before_first(sym_str_t text, char c)
{
    const char *at = text.len != 0 ? memchr(text.data, c, text.len) : NULL;

    return at != NULL ? sym_str(text.data, (size_t) (at - text.data)) : text;
}


/* The part after the last dot; data NULL: there is no dot. */
static sym_str_t
extension_of(sym_str_t file)
{
    sym_str_t end = file.len != 0 ? after_last(file, '.') : file;

    return end.len != file.len ? sym_str(end.data - 1, end.len + 1)
                               : sym_str(NULL, 0);
}


/* Derives the name of a class's file.  A name that ends in "Kt" is of a Kotlin
 * file.  Other files have the extension of the requested class's file. */
static void
guess_file(sym_str_t class, sym_str_t reference, sym_jvm_frame_t *frame)
{
    sym_str_t name = after_last(class, '.'), rest = name;
    sym_str_t extension = extension_of(reference);

    for (;;) {
        sym_str_t part = before_first(rest, '$');

        if (part.len > 2 && memcmp(part.data + part.len - 2, "Kt", 2) == 0) {
            frame->file = sym_str(part.data, part.len - 2);
            frame->extension = SYM_STR(".kt");
            return;
        }

        if (part.len == rest.len) {
            break;
        }

        rest = sym_str(rest.data + part.len + 1, rest.len - part.len - 1);
    }

    frame->file = before_first(name, '$');
    frame->extension = extension.data != NULL ? extension : SYM_STR(".java");
}


/* --- frames --- */

static sym_status_t
next_member(sym_jvm_answer_t *a, sym_jvm_member_t *m)
{
    return sym_steps_take(a->steps, 1) ? sym_jvm_next(&a->cursor, m)
                                       : SYM_LIMIT;
}


/* The frame of a member without a range of lines. */
static bool
is_base(const sym_jvm_member_t *m)
{
    return !m->has_range || m->end == 0;
}


static bool
is_at(const sym_jvm_member_t *m, uint32_t line)
{
    return is_base(m) || (line >= m->start && line <= m->end);
}


/* The frame of a member, without its range. line 0: perhaps the member has a
 * line. */
static sym_status_t
plain_frame(const sym_jvm_answer_t *a, const sym_jvm_member_t *m, bool has_line,
            uint32_t line, sym_jvm_frame_t *frame)
{
    sym_jvm_original_t original;
    sym_status_t rc = sym_jvm_original(a->jvm, m->original, &original);

    if (rc != SYM_OK) {
        return rc;
    }

    frame->class_name =
        (m->form & SYM_JVM_FOREIGN) != 0 ? original.owner : a->class.original;
    frame->method = original.name;
    frame->line = line;
    frame->has_line = has_line;
    frame->is_synthesized = original.is_synthesized;
    guess_file(frame->class_name, a->class.file, frame);
    return SYM_OK;
}


/* Does the same with the member's first original line, if there is one. */
static sym_status_t
first_line_frame(const sym_jvm_answer_t *a, const sym_jvm_member_t *m,
                 sym_jvm_frame_t *frame)
{
    return plain_frame(a, m, m->first != 0, m->first, frame);
}


static void
class_frame(const sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    *frame = (sym_jvm_frame_t){ .class_name = a->class.original,
                                .method = a->question.method,
                                .line = a->question.line,
                                .has_line = true };
    guess_file(a->class.original, a->class.file, frame);
}


/* --- by line --- */

/* The frame of a member whose range contains the line. */
static sym_status_t
ranged_frame(const sym_jvm_answer_t *a, const sym_jvm_member_t *m,
             sym_jvm_frame_t *frame)
{
    sym_jvm_original_t original;
    uint32_t line = m->first;
    sym_status_t rc;

    if (m->n_lines == 2 && m->last != m->first) {
        line += a->question.line - m->start;
    }

    rc = plain_frame(a, m, true, line, frame);
    if (rc != SYM_OK
        || sym_jvm_original(a->jvm, m->original, &original) != SYM_OK
        || original.file.data == NULL)
    {
        return rc;
    }

    frame->file = original.file;
    frame->extension = SYM_STR("");

    if (sym_str_eq(original.file, SYM_STR("R8$$SyntheticClass"))) {
        frame->file = before_first(after_last(frame->class_name, '.'), '$');
    }

    return SYM_OK;
}


/* The frame of a member without a range, in a method without any range. */
static sym_status_t
base_frame(sym_jvm_answer_t *a, const sym_jvm_member_t *m,
           sym_jvm_frame_t *frame)
{
    sym_status_t rc;

    if (m->n_lines == 0) {
        return plain_frame(a, m, true, a->question.line, frame);
    }

    if (m->n_lines == 1 || m->last <= m->first || m->last - m->first > SPAN_MAX)
    {
        return first_line_frame(a, m, frame);
    }

    /* there is one frame for each of its lines */
    rc = plain_frame(a, m, true, m->first, frame);
    a->span = *frame;
    a->n_span = m->last - m->first;
    return rc;
}


static sym_status_t
frame_by_line(sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    bool has_lines = (a->method.flags & SYM_JVM_HAS_LINES) != 0;
    sym_jvm_member_t m;
    sym_status_t rc;

    while ((rc = next_member(a, &m)) == SYM_OK) {
        if (is_base(&m) ? has_lines : !is_at(&m, a->question.line)) {
            continue;
        }

        a->has_matched = true;
        return is_base(&m) ? base_frame(a, &m, frame)
                           : ranged_frame(a, &m, frame);
    }

    if (rc == SYM_NOT_FOUND) {
        a->mode = ENDED;

        if (has_lines && !a->has_matched) {
            class_frame(a, frame);
            return SYM_OK;
        }
    }

    return rc;
}


/* --- lookups by parameters --- */

/* Gets the next member with these parameters. */
static sym_status_t
next_of_parameters(sym_jvm_answer_t *a, sym_jvm_member_t *m)
{
    sym_jvm_original_t original;
    sym_status_t rc;

    while ((rc = next_member(a, m)) == SYM_OK) {
        if ((m->form & SYM_JVM_BY_PARAMETERS) == 0) {
            continue;
        }

        rc = sym_jvm_original(a->jvm, m->original, &original);
        if (rc != SYM_OK
            || sym_str_eq(original.parameters, *a->question.parameters)) {
            break;
        }
    }

    return rc;
}


/* --- lookups without a line --- */

/* Examines members without a range.  They are not tied to a line, either. */
static sym_status_t
survey_bases(sym_jvm_answer_t *a, bool *has_bases)
{
    bool have_lines = true;
    sym_str_t name = { NULL, 0 };
    sym_jvm_member_t m;
    sym_status_t rc;

    *has_bases = false;
    a->has_same_name = true;

    while ((rc = next_member(a, &m)) == SYM_OK) {
        sym_jvm_original_t original;

        if (!is_base(&m)) {
            continue;
        }

        *has_bases = true;
        if (m.has_range) {
            a->has_wide_base |= m.n_lines == 2 && m.last != m.first;
            continue;
        }

        rc = sym_jvm_original(a->jvm, m.original, &original);
        if (rc != SYM_OK) {
            return rc;
        }

        have_lines = have_lines && m.n_lines != 0;
        a->has_same_name =
            a->n_bare == 0
            || (a->has_same_name && sym_str_eq(name, original.name));
        name = a->n_bare == 0 ? original.name : name;
        a->n_bare++;
    }

    a->mode = !a->has_same_name && have_lines ? SORTED_BASES : BASES;
    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* The method that contains the code.  Members with the same first range are a
 * stack of inlined calls; the method is the last of them. */
static sym_status_t
outermost_frame(sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    sym_jvm_member_t m, outermost;
    sym_status_t rc;

    sym_jvm_members(a->jvm, &a->method, 0, &a->cursor);
    rc = next_member(a, &m);
    outermost = m;

    while (rc == SYM_OK && m.start == outermost.start && m.end == outermost.end)
    {
        outermost = m;
        rc = next_member(a, &m);
    }

    return rc == SYM_OK || rc == SYM_NOT_FOUND
               ? plain_frame(a, &outermost, true, 0, frame)
               : rc;
}


static sym_status_t
frame_of_base(const sym_jvm_answer_t *a, const sym_jvm_member_t *m,
              sym_jvm_frame_t *frame)
{
    if (m->has_range) {
        return a->has_wide_base ? plain_frame(a, m, true, 0, frame)
                                : first_line_frame(a, m, frame);
    }

    return plain_frame(a, m, true, a->n_bare == 1 ? m->first : 0, frame);
}


/* Returns members in the order of the mapping; the first of several members
 * that have no range and the same name. */
static sym_status_t
next_base(sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    sym_jvm_member_t m;
    sym_status_t rc;

    while ((rc = next_member(a, &m)) == SYM_OK) {
        if (!is_base(&m)
            || (!m.has_range && a->has_same_name && a->has_matched)) {
            continue;
        }

        a->has_matched |= !m.has_range;
        return frame_of_base(a, &m, frame);
    }

    return rc;
}


/* Returns members in the order of names: the smallest name above the last
 * one. */
static sym_status_t
next_sorted_base(sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    sym_jvm_frame_t each;
    sym_jvm_member_t m;
    sym_status_t rc;
    uint32_t number = 0, best = 0;

    sym_jvm_members(a->jvm, &a->method, 0, &a->cursor);

    while ((rc = next_member(a, &m)) == SYM_OK) {
        number++;
        if (!is_base(&m)) {
            continue;
        }

        rc = frame_of_base(a, &m, &each);
        if (rc != SYM_OK) {
            return rc;
        }

        if (a->last != 0) {
            int order = sym_str_cmp(each.method, a->last_name);

            if (order < 0 || (order == 0 && number <= a->last)) {
                continue;
            }
        }

        if (best == 0 || sym_str_cmp(each.method, frame->method) < 0) {
            *frame = each;
            best = number;
        }
    }

    if (rc != SYM_NOT_FOUND || best == 0) {
        return rc;
    }

    a->last = best;
    a->last_name = frame->method;
    return SYM_OK;
}


/* --- an answer --- */

/* Gets a frame before rules are applied. */
static sym_status_t
any_frame(sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    sym_jvm_member_t m;
    sym_status_t rc;

    if (a->n_span != 0) {
        if (!sym_steps_take(a->steps, 1)) {
            return SYM_LIMIT;
        }

        a->n_span--;
        a->span.line++;
        *frame = a->span;
        return SYM_OK;
    }

    switch (a->mode) {
    case BY_LINE:
        return frame_by_line(a, frame);
    case BY_PARAMETERS:
        rc = next_of_parameters(a, &m);
        return rc == SYM_OK ? first_line_frame(a, &m, frame) : rc;
    case BASES:
        return next_base(a, frame);
    case SORTED_BASES:
        return next_sorted_base(a, frame);
    case ONE_FRAME:
        a->mode = ENDED;
        *frame = a->span;
        return SYM_OK;
    default:
        return SYM_NOT_FOUND;
    }
}


sym_status_t
sym_jvm_next_frame(sym_jvm_answer_t *a, sym_jvm_frame_t *frame)
{
    sym_status_t rc = SYM_OK;

    for (; rc == SYM_OK && a->skip > 0; a->skip--) {
        rc = any_frame(a, frame);
    }

    return rc == SYM_OK ? any_frame(a, frame) : rc;
}


/* Number of frames that the rules of matching members remove. */
static sym_status_t
add_rules(sym_jvm_answer_t *a)
{
    const sym_jvm_question_t *q = &a->question;
    sym_jvm_member_t m;
    sym_status_t rc = SYM_OK;

    if (q->thrown == NULL || (a->method.flags & SYM_JVM_HAS_RULES) == 0) {
        return SYM_OK;
    }

    sym_jvm_members(a->jvm, &a->method, q->line, &a->cursor);

    while (rc == SYM_OK) {
        uint64_t n = 0;

        rc = q->parameters != NULL ? next_of_parameters(a, &m)
                                   : next_member(a, &m);

        if (rc == SYM_OK && m.notes != 0
            && (q->parameters != NULL || is_at(&m, q->line)))
        {
            rc = sym_jvm_removed(a->jvm, m.notes, *q->thrown, &n);
            a->skip += n;
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* Sets the line to the position at which the outline of the previous frame was
 * called. */
static sym_status_t
apply_carried(sym_jvm_answer_t *a, uint32_t position)
{
    sym_jvm_question_t *q = &a->question;
    sym_jvm_member_t m;
    sym_status_t rc = SYM_OK;

    sym_jvm_members(a->jvm, &a->method, q->line, &a->cursor);

    while (rc == SYM_OK) {
        rc = q->parameters != NULL ? next_of_parameters(a, &m)
                                   : next_member(a, &m);

        if (rc == SYM_OK && m.notes != 0 && is_at(&m, q->line)) {
            sym_status_t found =
                sym_jvm_position(a->jvm, m.notes, position, &q->line);

            if (found != SYM_NOT_FOUND) {
                return found;
            }
        }
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* Selects the type of lookup.  SYM_NOT_FOUND: only the class is known. */
static sym_status_t
begin(sym_jvm_answer_t *a)
{
    sym_jvm_question_t *q = &a->question;
    sym_jvm_member_t m;
    sym_status_t rc = add_rules(a);
    bool has_bases;

    sym_jvm_members(a->jvm, &a->method, q->line, &a->cursor);

    if (rc != SYM_OK) {
        return rc;
    }

    if (q->parameters != NULL) {
        a->mode = BY_PARAMETERS;
        rc = next_of_parameters(a, &m);
    } else if (q->line != 0) {
        a->mode = BY_LINE;
    } else {
        rc = survey_bases(a, &has_bases);

        if (rc == SYM_OK && !has_bases) {
            a->mode = ONE_FRAME;
            return outermost_frame(a, &a->span);
        }
    }

    sym_jvm_members(a->jvm, &a->method, q->line, &a->cursor);
    return rc;
}


sym_status_t
sym_jvm_ask(const sym_jvm_t *j, const sym_jvm_question_t *q,
            sym_jvm_carried_t *carried, uint64_t *steps, sym_jvm_answer_t *a,
            sym_jvm_found_t *found)
{
    sym_jvm_carried_t position = *carried;
    sym_status_t rc;

    *a = (sym_jvm_answer_t){
        .jvm = j, .question = *q, .steps = steps, .mode = ENDED
    };
    *found = SYM_JVM_UNKNOWN;
    rc = sym_jvm_find_class(j, q->class_name, &a->class);

    if (rc == SYM_OK) {
        *found = SYM_JVM_FRAMES;
        rc = sym_jvm_find_method(j, &a->class, q->method, &a->method);

        if (rc == SYM_OK && (a->method.flags & SYM_JVM_IS_OUTLINE) != 0) {
            *carried = (sym_jvm_carried_t){ true, q->line };
            *found = SYM_JVM_OUTLINE;
            return SYM_OK;
        }
    }

    carried->is_set = false;

    if (rc == SYM_OK && position.is_set) {
        rc = apply_carried(a, position.line);
    }

    rc = rc == SYM_OK ? begin(a) : rc;

    if (rc == SYM_NOT_FOUND && *found == SYM_JVM_FRAMES) {
        a->mode = ONE_FRAME;
        class_frame(a, &a->span);
    }

    return rc == SYM_NOT_FOUND ? SYM_OK : rc;
}


/* --- signatures --- */

typedef struct {
    const sym_jvm_t *jvm;
    sym_arena_t *arena;
    char *start, *pos, *end; /* output text */
    sym_status_t rc;
} text_t;

static void
put(text_t *t, sym_str_t s)
{
    if (s.len > (size_t) (t->end - t->pos)) {
        t->rc = t->rc != SYM_OK ? t->rc : SYM_LIMIT;
    } else if (s.len != 0) {
        memcpy(t->pos, s.data, s.len);
        t->pos += s.len;
    }
}


static sym_str_t
base_type(char c)
{
    switch (c) {
    case 'Z':
        return SYM_STR("boolean");
    case 'B':
        return SYM_STR("byte");
    case 'C':
        return SYM_STR("char");
    case 'S':
        return SYM_STR("short");
    case 'I':
        return SYM_STR("int");
    case 'J':
        return SYM_STR("long");
    case 'F':
        return SYM_STR("float");
    case 'D':
        return SYM_STR("double");
    case 'V':
        return SYM_STR("void");
    default:
        return SYM_STR("");
    }
}


/* Writes the original name of the class "a/b". */
static void
put_class(text_t *t, sym_str_t name)
{
    char *start = t->pos;
    sym_jvm_class_t class;

    put(t, name);

    for (char *p = start; t->rc == SYM_OK && p < t->pos; p++) {
        if (*p == '/') {
            *p = '.';
        }
    }

    if (t->rc == SYM_OK
        && sym_jvm_find_class(t->jvm, sym_str(start, name.len), &class)
               == SYM_OK)
    {
        t->pos = start;
        put(t, class.original);
    }
}


/* Writes a type.  False: it is not a type, and nothing is written. */
static bool
put_type(text_t *t, sym_str_t type)
{
    size_t dimensions = 0, i = 0;
    sym_str_t base = SYM_STR("");

    for (; i < type.len && type.data[i] != 'L' && base.len == 0; i++) {
        dimensions += type.data[i] == '[';
        base = base_type(type.data[i]);
    }

    if (base.len != 0) {
        put(t, base);
    } else if (type.len - i >= 2 && type.data[type.len - 1] == ';') {
        put_class(t, sym_str(type.data + i + 1, type.len - i - 2));
    } else {
        return false;
    }

    for (; dimensions > 0; dimensions--) {
        put(t, SYM_STR("[]"));
    }

    return true;
}


/* The length of the first type in a list; 0: the type is incomplete. */
static size_t
type_length(sym_str_t list)
{
    for (size_t i = 0; i < list.len; i++) {
        if (list.data[i] == 'L') {
            const char *end = memchr(list.data + i, ';', list.len - i);

            return end != NULL ? (size_t) (end - list.data) + 1 : 0;
        }

        if (base_type(list.data[i]).len != 0) {
            return i + 1;
        }
    }

    return list.len; /* omitted, because it is not a type */
}


/* Writes the types of a list.  False: one is incomplete. */
static bool
put_types(text_t *t, sym_str_t list, sym_str_t separator)
{
    for (bool is_first = true; list.len > 0 && t->rc == SYM_OK;) {
        size_t len = type_length(list);
        char *start = t->pos;

        if (len == 0) {
            return false;
        }

        put(t, is_first ? SYM_STR("") : separator);

        if (put_type(t, sym_str(list.data, len))) {
            is_first = false;
        } else {
            t->pos = start;
        }

        list = sym_str(list.data + len, list.len - len);
    }

    return true;
}


sym_status_t
sym_jvm_signature(const sym_jvm_t *j, sym_arena_t *arena, sym_str_t signature,
                  sym_jvm_signature_t *s)
{
    char room[8192];
    text_t t = { j, arena, room, room, room + sizeof(room), SYM_OK };
    sym_str_t types, returned;
    size_t split;

    if (signature.len > SIGNATURE_MAX) {
        return SYM_LIMIT;
    }

    returned = after_last(signature, ')');
    if (signature.len == 0 || signature.data[0] != '(' || returned.len == 0
        || returned.len == signature.len)
    {
        return SYM_NOT_FOUND;
    }

    types = sym_str(signature.data + 1, signature.len - returned.len - 2);

    if (!put_types(&t, types, SYM_STR(","))) {
        return SYM_NOT_FOUND;
    }

    split = (size_t) (t.pos - room);
    put(&t, SYM_STR("("));
    (void) put_types(&t, types, SYM_STR(", "));
    put(&t, SYM_STR(")"));

    if (!sym_str_eq(returned, SYM_STR("V"))) {
        char *start = t.pos, *type;

        put(&t, SYM_STR(": "));
        type = t.pos;
        if (!put_type(&t, returned)) {
            return SYM_NOT_FOUND;
        }

        if (sym_str_eq(sym_str(type, (size_t) (t.pos - type)), SYM_STR("void")))
        {
            t.pos = start;
        }
    }

    if (t.rc != SYM_OK) {
        return t.rc;
    }

    types = sym_arena_copy(arena, sym_str(room, (size_t) (t.pos - room)));
    if (types.data == NULL) {
        return SYM_NOMEM;
    }

    s->parameters = sym_str(types.data, split);
    s->readable = sym_str(types.data + split, types.len - split);
    return SYM_OK;
}
