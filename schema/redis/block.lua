-- block: blocks a subject, an address, a domain or an issuer, or lifts it.
--
-- KEYS  the block; for a domain also relay:block:domain:*, which counts the
--       domains that are blocked
-- ARGV  state ("active" or "lifted"), since (epoch ms), reason
-- {"ok", epoch}

if #KEYS < 1 or #KEYS > 2 or #ARGV ~= 3 then
    return redis.error_reply("ERR relay: block: wrong number of arguments")
end

if ARGV[1] ~= "active" and ARGV[1] ~= "lifted" then
    return redis.error_reply("ERR relay: block: bad state")
end

local before = redis.call("HGET", KEYS[1], "state")
local epoch = tonumber(redis.call("HGET", KEYS[1], "epoch") or "0") or 0

epoch = string.format("%.0f", math.max(epoch, 0) + 1)

if KEYS[2] then
    local count = tonumber(redis.call("HGET", KEYS[2], "count") or "0") or 0
    local marker = tonumber(redis.call("HGET", KEYS[2], "epoch") or "0") or 0

    if ARGV[1] == "active" and before ~= "active" then
        count = count + 1

    elseif ARGV[1] == "lifted" and before == "active" then
        count = math.max(count - 1, 0)
    end

    redis.call("HSET", KEYS[2],
               "epoch", string.format("%.0f", math.max(marker, 0) + 1),
               "state", count > 0 and "active" or "lifted",
               "count", string.format("%.0f", count))
end

redis.call("HSET", KEYS[1], "epoch", epoch, "state", ARGV[1],
           "since", ARGV[2], "reason", ARGV[3])

return {"ok", epoch}
