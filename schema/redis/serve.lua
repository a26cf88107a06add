-- serve: guard and receipt in one step.
--
-- KEYS  the records that the edge decided on, in its order; the stream, last
-- ARGV  receipt, check_expiry ("1", or "0" for the owner), one fingerprint for
--       each record
-- {"ok", entry, now} | {"stale", index} | {"expired", now}

local guarded = {
    "epoch", "state", "exp", "access", "permission", "view", "version", "mode",
    "email", "iss", "sub", "link", "accepted_at", "accepted_version",
    "owner_iss", "owner_sub", "schema", "digest", "isolation"
}

local n = #KEYS - 1

if n < 1 or #ARGV ~= n + 2 then
    return redis.error_reply("ERR relay: serve: wrong number of arguments")
end

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local expired = false

for i = 1, n do
    local v = redis.call("HMGET", KEYS[i], unpack(guarded))

    for j = 1, #guarded do
        v[j] = v[j] or ""
    end

    if table.concat(v, "\n") ~= ARGV[i + 2] then
        return {"stale", tostring(i)}
    end

    -- what is no number has passed

    if v[3] ~= "" and v[3] ~= "0" then
        local exp = tonumber(v[3])

        if not exp or exp <= now then
            expired = true
        end
    end
end

if expired and ARGV[2] ~= "0" then
    return {"expired", string.format("%.0f", now)}
end

local entry = redis.call("XADD", KEYS[n + 1], "*", "r", ARGV[1])

return {"ok", entry, string.format("%.0f", now)}
