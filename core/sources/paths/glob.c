#include "sources/paths/glob.h"

#include "base/steps.h"

/* Limit of steps: ordinary patterns take little more steps than both texts have
 * characters. */
#define STEPS(len) (4 * (uint64_t) (len) + 4096)

#define UTF8_MAX 4

static char
folded(char c, bool is_exact)
{
    if (is_exact) {
        return c;
    }

    if (c == '\\') {
        return '/';
    }

    return sym_lower(c);
}


/* Length of the set at p, which begins with '['; 0: it is not closed. */
static size_t
set_len(sym_str_t p)
{
    /* a ']' in the first position is part of the set */
    size_t i = p.len > 1 && p.data[1] == '!' ? 3 : 2;

    while (i < p.len && p.data[i] != ']') {
        i++;
    }

    return i < p.len ? i + 1 : 0;
}


bool
sym_glob_is_pattern(sym_str_t pattern)
{
    for (size_t i = 0; i < pattern.len;) {
        sym_str_t rest = sym_str(pattern.data + i, pattern.len - i);
        size_t n = 1;

        if (rest.data[0] == '[') {
            n = set_len(rest);

        } else if (rest.data[0] == '*') {
            while (n < rest.len && rest.data[n] == '*') {
                n++;
            }

            if (n > 2
                || (n == 2
                    && ((i != 0 && pattern.data[i - 1] != '/')
                        || (n < rest.len && rest.data[n] != '/'))))
            {
                return false;
            }
        }

        if (n == 0) {
            return false;
        }

        i += n;
    }

    return pattern.len <= SYM_GLOB_MAX;
}


static bool
is_in_set(sym_str_t set, char c, bool is_exact)
{
    bool is_not = set.data[1] == '!', is_in = false;
    size_t i = is_not ? 2 : 1, end = set.len - 1;
    char lower = folded(c, is_exact);
    char upper = lower;

    if (!is_exact && lower >= 'a' && lower <= 'z') {
        upper = (char) (lower - ('a' - 'A'));
    }

    while (i < end) {
        unsigned char from = (unsigned char) set.data[i], to = from;

        if (i + 2 < end && set.data[i + 1] == '-') {
            to = (unsigned char) set.data[i + 2];
            i += 2;
        }

        is_in |=
            (from <= (unsigned char) lower && (unsigned char) lower <= to)
            || (from <= (unsigned char) upper && (unsigned char) upper <= to);
        i++;
    }

    return is_in != is_not;
}


/* Length of the character at the beginning of a name. */
static size_t
char_len(sym_str_t name)
{
    size_t n = 1;

    while (n < name.len && n < UTF8_MAX
           && ((uint8_t) name.data[n] & 0xc0) == 0x80) {
        n++;
    }

    return n;
}


/* Matches one element of the pattern other than '*' against the name. */
static bool
take_one(sym_str_t pattern, sym_str_t name, bool is_exact, size_t *of_pattern,
         size_t *of_name)
{
    *of_pattern = *of_name = 1;
    if (name.len == 0) {
        return false;
    }

    switch (pattern.data[0]) {
    case '?':
        *of_name = char_len(name);
        return true;
    case '[':
        *of_pattern = set_len(pattern);
        *of_name = char_len(name);
        return *of_pattern != 0
               && is_in_set(sym_str(pattern.data, *of_pattern), name.data[0],
                            is_exact);
    default:
        return folded(pattern.data[0], is_exact)
               == folded(name.data[0], is_exact);
    }
}


/*
 * Backtracks only to the last star: the pattern before it is matched as early
 * as possible, so a later match could not be better.
 */
static bool
run(sym_str_t pattern, sym_str_t name, bool is_exact, uint64_t *left)
{
    size_t p = 0, n = 0, star_p = 0, star_n = 0, of_pattern, of_name, cost = 1;
    bool has_star = false, is_folders = false;

    while (sym_steps_take(left, cost)) {
        cost = 1;
        if (p < pattern.len && pattern.data[p] == '*') {
            is_folders = p + 1 < pattern.len && pattern.data[p + 1] == '*';
            p += is_folders ? 2 : 1;
            if (is_folders && p == pattern.len) {
                return true;
            }
            p += is_folders; /* its slash */
            has_star = true;
            star_p = p;
            star_n = n;
            continue;
        }

        if (p == pattern.len && n == name.len) {
            return true;
        }

        if (p < pattern.len) {
            bool is_taken = take_one(sym_str(pattern.data + p, pattern.len - p),
                                     sym_str(name.data + n, name.len - n),
                                     is_exact, &of_pattern, &of_name);

            cost = of_pattern; /* reads the set to its end */
            if (is_taken) {
                p += of_pattern;
                n += of_name;
                continue;
            }
        }

        if (!has_star || star_n == name.len) {
            return false;
        }

        do {
            star_n++;
        } while (is_folders && star_n < name.len
                 && folded(name.data[star_n - 1], is_exact) != '/');

        p = star_p;
        n = star_n;
    }

    return false;
}


static bool
matches(sym_str_t pattern, sym_str_t name, bool is_exact, uint64_t *steps)
{
    uint64_t most = STEPS(pattern.len + name.len), left = most;
    bool is_match;

    if (pattern.len > SYM_GLOB_MAX || name.len > SYM_GLOB_NAME_MAX) {
        return false;
    }

    if (left > *steps) {
        left = most = *steps;
    }

    is_match = run(pattern, name, is_exact, &left);
    *steps -= most - left;
    return is_match;
}


bool
sym_glob_matches(sym_str_t pattern, sym_str_t name, uint64_t *steps)
{
    return matches(pattern, name, false, steps);
}


bool
sym_glob_matches_case(sym_str_t pattern, sym_str_t name, uint64_t *steps)
{
    return matches(pattern, name, true, steps);
}
