-- Posts the bodies in the files given after "--", in turn, and closes with one
-- line that bench/run reads:
--   wrk-result requests=N errors=N seconds=S bytes=N p50=US p99=US max=US

local requests = {}
local turn = 0

function init(args)
    for _, name in ipairs(args) do
        local file = assert(io.open(name, "rb"))
        local body = file:read("*a")
        file:close()
        requests[#requests + 1] = wrk.format("POST", nil, {
            ["Content-Type"] = "application/json",
        }, body)
    end
    assert(#requests > 0, "no body files given")
end

function request()
    turn = turn % #requests + 1
    return requests[turn]
end

function done(summary, latency)
    local e = summary.errors
    io.write(string.format("wrk-result requests=%d errors=%d seconds=%.6f "
        .. "bytes=%d p50=%d p99=%d max=%d\n",
        summary.requests, e.connect + e.read + e.write + e.status + e.timeout,
        summary.duration / 1e6, summary.bytes, latency:percentile(50),
        latency:percentile(99), latency.max))
end
