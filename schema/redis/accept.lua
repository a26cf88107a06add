-- accept: makes a reader's grant, or fills in one that was issued to her.
--
-- KEYS  head, link record, the grant to make, the grant under the reader's
--       other key (the same one where there is no other), stream
-- ARGV  receipt; fingerprints of the four records; n, then n pairs of a field
--       and its value
-- {"ok", entry, epoch} | {"exists"} | {"stale", index} | {"expired", now}

local guarded = {
    "epoch", "state", "exp", "access", "permission", "view", "version", "mode",
    "email", "iss", "sub", "link", "accepted_at", "accepted_version",
    "owner_iss", "owner_sub", "schema", "digest", "isolation"
}

local fields = {
    id = true, link = true, view = true, permission = true, state = true,
    exp = true, iss = true, sub = true, email = true, name = true,
    accepted_at = true, accepted_version = true
}

local n = tonumber(ARGV[6])

if #KEYS ~= 5 or not n or #ARGV ~= 6 + 2 * n then
    return redis.error_reply("ERR relay: accept: wrong number of arguments")
end

local set = {}

for i = 7, #ARGV, 2 do
    if not fields[ARGV[i]] then
        return redis.error_reply("ERR relay: accept: field " .. ARGV[i])
    end

    set[ARGV[i]] = ARGV[i + 1]
end

if (set.id or "") == ""
   or not string.find(set.accepted_at or "", "^[1-9]%d*$")
   or not string.find(set.accepted_version or "", "^[1-9]%d*$")
   or (set.state or "active") ~= "active"
then
    return redis.error_reply("ERR relay: accept: not an accepted grant")
end

set.state = "active"

local time = redis.call("TIME")
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local records = {}
local stale, expired

for i = 1, 4 do
    local v = redis.call("HMGET", KEYS[i], unpack(guarded))
    local record = {}

    for j = 1, #guarded do
        v[j] = v[j] or ""
        record[guarded[j]] = v[j]
    end

    records[i] = record

    if not stale and table.concat(v, "\n") ~= ARGV[i + 1] then
        stale = i
    end

    if record.exp ~= "" and record.exp ~= "0" then
        local exp = tonumber(record.exp)

        if not exp or exp <= now then
            expired = true
        end
    end
end

local grant = records[3]
local found = redis.call("EXISTS", KEYS[3]) == 1

if found then
    if grant.state ~= "active"
       or (grant.accepted_at ~= "" and grant.accepted_at ~= "0")
    then
        return {"exists"}
    end

    -- a grant that is bound to one subject is not taken over by another

    if (grant.iss ~= "" or grant.sub ~= "")
       and (grant.iss ~= set.iss or grant.sub ~= set.sub)
    then
        return {"exists"}
    end
end

if stale then
    return {"stale", tostring(stale)}
end

-- what the edge decided on should be active; an edge that errs is not followed

for i = 1, 4 do
    if records[i].state ~= "active"
       and (i <= 2 or redis.call("EXISTS", KEYS[i]) == 1)
    then
        return {"stale", tostring(i)}
    end
end

if expired then
    return {"expired", string.format("%.0f", now)}
end

local epoch = tonumber(grant.epoch ~= "" and grant.epoch or "0")

if not epoch then
    return redis.error_reply("ERR relay: accept: bad epoch")
end

epoch = string.format("%.0f", epoch + 1)

if found then

    -- The terms that it was issued with stay.  So does the absence of a link,
    -- which tells a grant issued to a reader from one made by reading.

    set.link = nil

    for _, field in ipairs({"id", "view", "permission", "exp", "email"}) do
        if (redis.call("HGET", KEYS[3], field) or "") ~= "" then
            set[field] = nil
        end
    end
end

local args = {"epoch", epoch}

for field, value in pairs(set) do
    args[#args + 1] = field
    args[#args + 1] = value
end

-- the receipt goes first: what can fail has failed before the grant is made

local entry = redis.call("XADD", KEYS[5], "*", "r", ARGV[1])

redis.call("HSET", KEYS[3], unpack(args))

return {"ok", entry, epoch}
