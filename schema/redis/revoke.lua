-- revoke: ends a relay, a link or a grant; one that is not there is left a
-- tombstone, over which nothing is made.
--
-- KEYS  record, stream
-- ARGV  receipt, at (epoch ms; empty: now), by, reason
-- {"ok", entry, epoch}

if #KEYS ~= 2 or #ARGV ~= 4 then
    return redis.error_reply("ERR relay: revoke: wrong number of arguments")
end

local at = ARGV[2]

if at == "" then
    local time = redis.call("TIME")

    at = string.format("%.0f", tonumber(time[1]) * 1000
                               + math.floor(tonumber(time[2]) / 1000))

elseif not string.find(at, "^%d+$") then
    return redis.error_reply("ERR relay: revoke: bad time")
end

-- a damaged epoch is no reason not to revoke

local epoch = tonumber(redis.call("HGET", KEYS[1], "epoch") or "0") or 0

epoch = string.format("%.0f", math.max(epoch, 0) + 1)

local entry = redis.call("XADD", KEYS[2], "*", "r", ARGV[1])

redis.call("HSET", KEYS[1], "epoch", epoch, "state", "revoked",
           "revoked_at", at, "revoked_by", ARGV[3], "revoked_reason", ARGV[4])

return {"ok", entry, epoch}
