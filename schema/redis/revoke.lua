-- revoke: ends a relay, a link or a grant; one that is not there is left a
-- tombstone, over which nothing is made.  One that was revoked already keeps
-- when, by whom and why; that time is the answer's last element then.
--
-- KEYS  record, stream
-- ARGV  receipt, at (epoch ms; empty: now), by, reason
-- {"ok", entry, epoch} | {"ok", entry, epoch, revoked_at}

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

local before = redis.call("HMGET", KEYS[1], "epoch", "state", "revoked_at")
local epoch = tonumber(before[1] or "0") or 0

epoch = string.format("%.0f", math.max(epoch, 0) + 1)

local entry = redis.call("XADD", KEYS[2], "*", "r", ARGV[1])

if before[2] == "revoked" and before[3] then
    redis.call("HSET", KEYS[1], "epoch", epoch)

    return {"ok", entry, epoch, before[3]}
end

redis.call("HSET", KEYS[1], "epoch", epoch, "state", "revoked",
           "revoked_at", at, "revoked_by", ARGV[3], "revoked_reason", ARGV[4])

return {"ok", entry, epoch}
