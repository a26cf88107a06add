-- grant: issues a grant to an address or to a subject, before any read.
--
-- KEYS  head, grant, stream
-- ARGV  receipt, n, then n pairs of a field and its value
-- {"ok", entry, epoch} | {"missing"} | {"revoked"} | {"exists"}

local fields = {
    id = true, link = true, view = true, permission = true, state = true,
    exp = true, iss = true, sub = true, email = true, name = true,
    accepted_at = true, accepted_version = true
}

local n = tonumber(ARGV[2])

if #KEYS ~= 3 or not n or #ARGV ~= 2 + 2 * n then
    return redis.error_reply("ERR relay: grant: wrong number of arguments")
end

local set = {}

for i = 3, #ARGV, 2 do
    if not fields[ARGV[i]] then
        return redis.error_reply("ERR relay: grant: field " .. ARGV[i])
    end

    set[ARGV[i]] = ARGV[i + 1]
end

if (set.id or "") == ""
   or ((set.iss or "") == "") ~= ((set.sub or "") == "")
   or ((set.iss or "") == "" and (set.email or "") == "")
   or (set.state or "active") ~= "active"
then
    return redis.error_reply("ERR relay: grant: not a grant")
end

set.state = "active"

if redis.call("EXISTS", KEYS[1]) == 0 then
    return {"missing"}
end

if redis.call("HGET", KEYS[1], "state") ~= "active" then
    return {"revoked"}
end

if redis.call("EXISTS", KEYS[2]) == 1 then
    return {"exists"}
end

local args = {"epoch", "1"}

for field, value in pairs(set) do
    args[#args + 1] = field
    args[#args + 1] = value
end

local entry = redis.call("XADD", KEYS[3], "*", "r", ARGV[1])

redis.call("HSET", KEYS[2], unpack(args))

return {"ok", entry, "1"}
