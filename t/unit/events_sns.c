/*
 * The address that confirms an SNS subscription is shown to a person, who must
 * be able to trust the log line: any other URL is refused.  The text follows
 * the example in the Amazon SNS Developer Guide.
 */
#include "sources/events/sns.h"
#include "tap.h"

#define URL                                                                    \
    "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&"         \
    "TopicArn=arn:aws:sns:us-west-2:123456789012:MyTopic&Token=2336412f37"
#define TEXT(type, url)                                                        \
    "{\"Type\":\"" type "\",\"MessageId\":\"165545c9\",\"Token\":"             \
    "\"2336412f37\",\"TopicArn\":\"arn:aws:sns:us-west-2:123456789012:"        \
    "MyTopic\",\"Message\":\"You have chosen to subscribe\","                  \
    "\"SubscribeURL\":" url "}"
#define CONFIRM(url) TEXT("SubscriptionConfirmation", url)

static sym_arena_t arena;

static void
is_url(sym_str_t text, const char *want, const char *name)
{
    sym_str_t url = SYM_STR("none");
    bool is_there = sym_sns_subscribe_url(&arena, text, &url);

    ok(is_there == (want != NULL), "%s", name);
    if (want != NULL) {
        is_str(url, want, "... this one");
    }
}


int
main(void)
{
    static const struct {
        sym_str_t text;
        const char *name;
    } none[] = {
        { SYM_STR(TEXT("Notification", "\"" URL "\"")), "another type" },
        { SYM_STR(CONFIRM("7")), "no text" },
        { SYM_STR(CONFIRM("\"http://sns.us-west-2.amazonaws.com/\"")),
          "not https" },
        { SYM_STR(CONFIRM("\"https://a\\n[alert] b\"")), "a line break" },
        { SYM_STR(CONFIRM("\"https://a b\"")), "a space" },
        { SYM_STR(CONFIRM("\"https://a\\u0000b\"")), "a NUL" },
        { SYM_STR(CONFIRM("\"https://\\u00e9\"")), "not ASCII" },
        { SYM_STR("{\"Type\":\"SubscriptionConfirmation\"}"), "none" },
        { SYM_STR("{\"Type\":"), "no JSON" },
        { SYM_STR("[]"), "no object" },
        { SYM_STR("\"x\""), "a text" },
        { SYM_STR(""), "nothing" },
    };
    char text[SYM_SNS_URL_MAX + 200];

    sym_arena_init(&arena, 1 << 20);
    is_url(SYM_STR(CONFIRM("\"" URL "\"")), URL, "an address");

    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        is_url(none[i].text, NULL, none[i].name);
    }

    for (int extra = 0; extra < 2; extra++) {
        int width = SYM_SNS_URL_MAX - 8 + extra;

        snprintf(text, sizeof(text),
                 "{\"Type\":\"SubscriptionConfirmation\",\"SubscribeURL\":"
                 "\"https://%0*d\"}",
                 width, 1);
        ok(sym_sns_subscribe_url(&arena, sym_cstr(text), &(sym_str_t){ 0 })
               == (extra == 0),
           "an address of %d bytes", width + 8);
    }

    sym_arena_drop(&arena);
    sym_arena_init(&arena, 1);
    is_url(SYM_STR(CONFIRM("\"" URL "\"")), NULL, "no memory");
    sym_arena_drop(&arena);
    return done_testing();
}
