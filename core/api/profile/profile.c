/*
 * profile.c - profiles as a row of the APIs.
 */
#include "api/profile/profile.h"

#include "api/registry.h"

static const sym_request_ops_t profile_ops = {
    .size = sizeof(profile_t),
    .parse = profile_parse,
    .begin = profile_begin,
    .resume = profile_resume,
};

const sym_api_t sym_profile_api = {
    .name = "profile",
    .routes = { {
        .suffix = "/symbolicate/profile",
        .version = "pprof",
        .methods = SYM_METHOD_POST,
        .takes_gzip = true,
        .other_answer = PROFILE_JSON_TYPE,
        .ops = &profile_ops,
    } },
    .answers = { "application/octet-stream" },
};
