-- publish: the next version of a relay, or a new relay.
--
-- KEYS  head, the document's key for this version, stream
-- ARGV  version, document, receipt, n, then n pairs of a head's field and its
--       value (owner_iss and owner_sub always: only the owner publishes)
-- {"ok", entry, epoch} | {"version", current} | {"revoked"} | {"owner"}
-- | {"email"} | {"exists"}

local fields = {
    schema = true, mode = true, access = true, email = true, owner_iss = true,
    owner_sub = true, owner_email = true, exp = true, permission = true,
    title = true, isolation = true
}

local n = tonumber(ARGV[4])

if #KEYS ~= 3 or not n or #ARGV ~= 4 + 2 * n then
    return redis.error_reply("ERR relay: publish: wrong number of arguments")
end

if not string.find(ARGV[1], "^[1-9]%d*$") or #ARGV[1] > 15 then
    return redis.error_reply("ERR relay: publish: bad version")
end

local set = {}

for i = 5, #ARGV, 2 do
    if not fields[ARGV[i]] then
        return redis.error_reply("ERR relay: publish: field " .. ARGV[i])
    end

    set[ARGV[i]] = ARGV[i + 1]
end

local head = {}
local names = {
    "epoch", "state", "version", "owner_iss", "owner_sub", "schema", "mode",
    "access", "email", "permission"
}
local values = redis.call("HMGET", KEYS[1], unpack(names))

for i = 1, #names do
    head[names[i]] = values[i] or ""
end

local found = redis.call("EXISTS", KEYS[1]) == 1

if found and head.state ~= "active" then
    return {"revoked"}
end

if (set.owner_iss or "") == "" or (set.owner_sub or "") == "" then
    return {"owner"}
end

if found
   and (head.owner_iss ~= set.owner_iss or head.owner_sub ~= set.owner_sub)
then
    return {"owner"}
end

local current = tonumber(head.version ~= "" and head.version or "0")
local epoch = tonumber(head.epoch ~= "" and head.epoch or "0")

if not current or not epoch then
    return redis.error_reply("ERR relay: publish: bad head")
end

-- a relay that comes from elsewhere keeps its number

if found and tonumber(ARGV[1]) ~= current + 1 then
    return {"version", string.format("%.0f", current)}
end

for _, field in ipairs({"schema", "mode", "access", "permission"}) do
    if (set[field] or head[field]) == "" then
        return redis.error_reply("ERR relay: publish: no " .. field)
    end
end

if (set.access or head.access) == "named"
   and (set.email or head.email) == ""
then
    return {"email"}
end

if redis.call("EXISTS", KEYS[2]) == 1 then
    return {"exists"}
end

epoch = string.format("%.0f", epoch + 1)

local args = {
    "epoch", epoch, "state", "active", "version", ARGV[1],
    "digest", redis.sha1hex(ARGV[2])
}

for field, value in pairs(set) do
    args[#args + 1] = field
    args[#args + 1] = value
end

local entry = redis.call("XADD", KEYS[3], "*", "r", ARGV[3])

redis.call("SET", KEYS[2], ARGV[2])
redis.call("HSET", KEYS[1], unpack(args))

return {"ok", entry, epoch}
