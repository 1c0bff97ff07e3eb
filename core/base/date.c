#include "base/date.h"

#include "base/hex.h"

#define DAY_S 86400u

static const char iso_form[] = "0000-00-00T00:00:00Z";

static bool
is_leap(uint64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}


static uint64_t
days_of_month(uint64_t year, uint64_t month)
{
    static const uint8_t days[] = { 31, 28, 31, 30, 31, 30,
                                    31, 31, 30, 31, 30, 31 };

    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}


/* Days from 1970 to the start of the year. */
static uint64_t
days_before_year(uint64_t year)
{
    uint64_t y = year - 1;
    const uint64_t before_1970 =
        1969 * 365 + 1969 / 4 - 1969 / 100 + 1969 / 400;

    return y * 365 + y / 4 - y / 100 + y / 400 - before_1970;
}


static void
put_digits(char *p, size_t n, uint64_t value)
{
    while (n > 0) {
        p[--n] = (char) ('0' + value % 10);
        value /= 10;
    }
}


bool
sym_amz_date_write(uint64_t time_s, char out[SYM_AMZ_DATE_LEN])
{
    uint64_t day = time_s / DAY_S, second = time_s % DAY_S;
    uint64_t year = 1970 + day / 366, month = 1;

    if (time_s > SYM_DATE_MAX_S) {
        return false;
    }

    /* the estimate is never late, and at most a few years early */
    while (days_before_year(year + 1) <= day) {
        year++;
    }
    day -= days_before_year(year);

    while (day >= days_of_month(year, month)) {
        day -= days_of_month(year, month++);
    }

    put_digits(out, 4, year);
    put_digits(out + 4, 2, month);
    put_digits(out + 6, 2, day + 1);
    out[8] = 'T';
    put_digits(out + 9, 2, second / 3600);
    put_digits(out + 11, 2, second / 60 % 60);
    put_digits(out + 13, 2, second % 60);
    out[15] = 'Z';
    return true;
}


bool
sym_iso_date_write(uint64_t time_s, char out[SYM_ISO_DATE_LEN])
{
    char date[SYM_AMZ_DATE_LEN];
    size_t n = 0;

    if (!sym_amz_date_write(time_s, date)) {
        return false;
    }

    for (size_t i = 0; i < sizeof(iso_form) - 1; i++) {
        out[i] = iso_form[i];

        if (iso_form[i] == '0') {
            n += date[n] == 'T';
            out[i] = date[n++];
        }
    }

    return true;
}


bool
sym_iso_date_read(sym_str_t s, uint64_t *time_s)
{
    static const struct {
        uint8_t at, len;
    } places[] = {
        { 0, 4 }, { 5, 2 }, { 8, 2 }, { 11, 2 }, { 14, 2 }, { 17, 2 }
    };
    uint64_t v[6], day;

    if (s.len != sizeof(iso_form) - 1) {
        return false;
    }

    for (size_t i = 0; i < s.len; i++) {
        if (iso_form[i] == '0' ? s.data[i] < '0' || s.data[i] > '9'
                               : s.data[i] != iso_form[i])
        {
            return false;
        }
    }

    for (size_t i = 0; i < 6; i++) {
        if (!sym_dec_read(sym_str(s.data + places[i].at, places[i].len), &v[i]))
        {
            return false;
        }
    }

    if (v[0] < 1970 || v[1] < 1 || v[1] > 12 || v[2] < 1
        || v[2] > days_of_month(v[0], v[1]) || v[3] > 23 || v[4] > 59
        || v[5] > 59)
    {
        return false;
    }

    day = days_before_year(v[0]) + v[2] - 1;
    for (uint64_t month = 1; month < v[1]; month++) {
        day += days_of_month(v[0], month);
    }

    *time_s = day * DAY_S + v[3] * 3600 + v[4] * 60 + v[5];
    return true;
}
