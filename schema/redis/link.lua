-- link: the record of a new link.  Its caller then sets relay:link:<H(token)>,
-- which lies in another slot: a link that leads nowhere yet is no link.
--
-- KEYS  head, link record, stream
-- ARGV  receipt, n, then n pairs of a field and its value
-- {"ok", entry, epoch} | {"missing"} | {"revoked"} | {"exists"}

local fields = { view = true, access = true, permission = true, exp = true }

local n = tonumber(ARGV[2])

if #KEYS ~= 3 or not n or #ARGV ~= 2 + 2 * n then
    return redis.error_reply("ERR relay: link: wrong number of arguments")
end

for i = 3, #ARGV, 2 do
    if not fields[ARGV[i]] then
        return redis.error_reply("ERR relay: link: field " .. ARGV[i])
    end
end

if redis.call("EXISTS", KEYS[1]) == 0 then
    return {"missing"}
end

if redis.call("HGET", KEYS[1], "state") ~= "active" then
    return {"revoked"}
end

if redis.call("EXISTS", KEYS[2]) == 1 then
    return {"exists"}
end

local entry = redis.call("XADD", KEYS[3], "*", "r", ARGV[1])

redis.call("HSET", KEYS[2], "epoch", "1", "state", "active",
           unpack(ARGV, 3))

return {"ok", entry, "1"}
