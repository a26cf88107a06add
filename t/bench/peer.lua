-- The same job as the module's, as somebody who knows lua-nginx-module well
-- would write it: one pooled connection for each read, everything that a
-- decision needs asked in one pipeline, serve.lua by EVALSHA, receipts put
-- together from prepared pieces, libcrypto by FFI, locals for all that is hot.
--
-- It serves the reader who has accepted; everybody else is refused.  What it
-- may keep between reads is said by peer.setup():
--
--   cached    views: in a shared dictionary, and by reference in the worker
--   guarded   records: serve.lua compares them anyway, so that a read whose
--             records have changed is decided again.  Blocks, which serve.lua
--             does not see, for as long as relay_block_bound allows

local base64 = require "ngx.base64"
local cjson = require "cjson.safe"
local ffi = require "ffi"
local lrucache = require "resty.lrucache"
local redis = require "nginx.redis"
local view = require "view"

local C = ffi.C
local byte, find, match, sub =
    string.byte, string.find, string.match, string.sub
local concat = table.concat
local type, tonumber, pairs, unpack = type, tonumber, pairs, unpack
local ngx, null = ngx, ngx.null
local now, update_time = ngx.now, ngx.update_time
local encode_base64url = base64.encode_base64url
local decode_base64url = base64.decode_base64url

ffi.cdef[[
unsigned char *SHA256(const unsigned char *d, size_t n, unsigned char *md);
const void *EVP_sha256(void);
unsigned char *HMAC(const void *md, const void *key, int key_len,
    const unsigned char *d, size_t n, unsigned char *out, unsigned int *len);
]]

local _M = {}

local conf
local md = ffi.new("unsigned char[32]")

local identities, links, decisions, bodies
local sequence = 0
local process


local VIEWS = { owner = 1, recipient = 2, link = 3, ["pass-on"] = 4,
                preview = 5 }
local VIEW_NAMES = { "owner", "recipient", "link", "pass-on", "preview" }
local PERMISSIONS = { read = 1, suggest = 2, edit = 3 }
local PERMISSION_NAMES = { "read", "suggest", "edit" }
local ACCESS = { named = 1, anyone = 2 }

-- what serve.lua guards, in its order, and what else is needed

local FIELDS = {
    "epoch", "state", "exp", "access", "permission", "view", "version", "mode",
    "email", "iss", "sub", "link", "accepted_at", "accepted_version",
    "owner_iss", "owner_sub", "schema", "digest", "isolation", "id"
}

local GUARDED = 19
local EPOCH, STATE, EXP, ACC, PERM, VIEW, VERSION, MODE = 1, 2, 3, 4, 5, 6, 7, 8
local EMAIL, ISS, SUB, LINK, ACCEPTED_AT, ACCEPTED = 9, 10, 11, 12, 13, 14
local SCHEMA, ID = 17, 20


local function digest(s)
    C.SHA256(s, #s, md)
    return encode_base64url(ffi.string(md, 32))
end


local function file(name)
    local f = assert(io.open(name, "rb"))
    local text = f:read("*a")
    f:close()
    return text
end


function _M.setup(opts)
    conf = opts

    local jwks = assert(cjson.decode(file(opts.keys)))

    conf.secrets = {}

    for _, key in ipairs(jwks.keys) do
        if key.kty == "oct" then
            conf.secrets[key.kid] = decode_base64url(key.k)
        end
    end

    conf.script = file(opts.script)
    conf.sha1 = ngx.sha1_bin(conf.script):gsub(".", function(c)
        return ("%02x"):format(byte(c))
    end)

    identities = assert(lrucache.new(1024))
    links = assert(lrucache.new(1024))
    decisions = assert(lrucache.new(1024))
    bodies = assert(lrucache.new(256))
end


function _M.start()
    process = "bench-" .. ngx.worker.pid() .. "-" .. ngx.time()
end


-------------------------------------------------------------------------------
-- who asks

local function reader_json(id)
    local out = '"reader":{"issuer":' .. cjson.encode(id.iss)
        .. ',"subject":' .. cjson.encode(id.sub)

    if id.email ~= "" then
        out = out .. ',"email":' .. cjson.encode(id.email) .. ',"confirmed":'
            .. (id.confirmed and "true" or "false")
    end

    if id.name ~= "" then
        out = out .. ',"name":' .. cjson.encode(id.name)
    end

    return out .. "}"
end


local function verify(token)
    local header, payload, signature =
        match(token, "^([%w_-]+)%.([%w_-]+)%.([%w_-]+)$")

    if not header then
        return nil
    end

    local head = cjson.decode(decode_base64url(header) or "")

    if type(head) ~= "table" or head.alg ~= "HS256" then
        return nil
    end

    local secret = conf.secrets[head.kid]

    if not secret then
        return nil
    end

    local input = header .. "." .. payload

    C.HMAC(C.EVP_sha256(), secret, #secret, input, #input, md, nil)

    local sig = decode_base64url(signature)

    if not sig or #sig ~= 32 then
        return nil
    end

    local differ = 0

    for i = 1, 32 do
        differ = bit.bor(differ, bit.bxor(byte(sig, i), md[i - 1]))
    end

    if differ ~= 0 then
        return nil
    end

    local claims = cjson.decode(decode_base64url(payload) or "")

    if type(claims) ~= "table" or claims.iss ~= conf.issuer
       or type(claims.sub) ~= "string" or claims.sub == ""
       or type(claims.exp) ~= "number"
    then
        return nil
    end

    local aud = claims.aud

    if type(aud) == "string" then
        aud = { aud }
    end

    local meant = false

    for _, a in pairs(type(aud) == "table" and aud or {}) do
        meant = meant or a == conf.audience
    end

    return meant and claims or nil
end


-- Verified claims lie in the shared dictionary, so that one worker verifies a
-- token; what is derived from them lies in the worker.

local function identify()
    local auth = ngx.var.http_authorization

    if not auth or sub(auth, 1, 7) ~= "Bearer " then
        return nil, "sign_in"
    end

    local id = identities:get(auth)

    if id then
        if id.exp <= now() then
            return nil, "bad_token"
        end

        return id
    end

    local token = sub(auth, 8)
    local tokens = ngx.shared.tokens
    local key = digest(token)
    local text = tokens:get(key)
    local claims

    if text then
        claims = cjson.decode(text)

    else
        claims = verify(token)

        if claims and claims.exp > now() then
            tokens:set(key, cjson.encode(claims), claims.exp - now())
        end
    end

    if not claims or claims.exp <= now() then
        return nil, "bad_token"
    end

    id = {
        iss = claims.iss,
        sub = claims.sub,
        email = type(claims.email) == "string" and claims.email:lower() or "",
        name = type(claims.name) == "string" and claims.name or "",
        exp = claims.exp,
        key = key,
    }

    id.confirmed = id.email ~= ""
        and (claims.email_verified == true or claims.email_verified == "true")

    local subject = id.iss .. "\n" .. id.sub
    local prefix = conf.prefix

    id.by_subject = digest(subject)
    id.by_email = id.confirmed and digest("mailto:" .. id.email)

    id.blocks = {
        prefix .. "block:subject:" .. id.by_subject,
        prefix .. "block:issuer:" .. digest(id.iss),
    }

    if id.email ~= "" then
        id.blocks[3] = prefix .. "block:email:" .. digest(id.email)
        id.blocks[4] = prefix .. "block:domain:"
            .. digest(id.email:match("@(.*)$") or "")
    end

    id.json = reader_json(id)

    identities:set(auth, id)

    return id
end


-------------------------------------------------------------------------------
-- the decision

local function record(values)
    for i = 1, #FIELDS do
        if values[i] == null then
            values[i] = ""
        end
    end

    values.found = values[EPOCH] ~= ""
    values.fingerprint = concat(values, "\n", 1, GUARDED)

    return values
end


local function earlier(a, b)
    b = tonumber(b == "" and "0" or b) or 1

    if a == 0 or (b ~= 0 and b < a) then
        return b
    end

    return a
end


local function narrow(names, value, word, pick)
    if word == "" then
        return value
    end

    return names[word] and pick(value, names[word])
end


-- The rules of relay_grant_decide() for who has accepted.

local function decide(id, link, head, rec, by_subject, by_email)
    if not head.found or not rec.found then
        return nil, 404, "unknown_link"
    end

    if not id.confirmed then
        by_email = nil
    end

    local grants = { by_subject, by_email }
    local exp = earlier(earlier(0, head[EXP]), rec[EXP])
    local held = by_subject.found or (by_email and by_email.found)
    local active = head[STATE] == "active" and rec[STATE] == "active"
    local access = narrow(ACCESS, ACCESS[head[ACC]], rec[ACC], math.min)
    local permission = narrow(PERMISSIONS, PERMISSIONS[head[PERM]], rec[PERM],
                              math.min)

    if not access or not permission or head[SCHEMA] ~= view.SCHEMA then
        return nil, 503, "bad_record"
    end

    local v = narrow(VIEWS, access == 1 and 2 or 3, rec[VIEW], math.max)

    for i = 1, #grants do
        local grant = grants[i]

        if grant.found then
            active = active and grant[STATE] == "active"
            exp = earlier(exp, grant[EXP])
            v = v and narrow(VIEWS, v, grant[VIEW], math.max)
            permission = permission
                and narrow(PERMISSIONS, permission, grant[PERM], math.min)
        end
    end

    if not v or not permission then
        return nil, 503, "bad_record"
    end

    if not active then
        return nil, held and 410 or 404, held and "revoked" or "unknown_link"
    end

    if exp ~= 0 and exp <= now() * 1000 then
        return nil, held and 410 or 404, held and "expired" or "unknown_link"
    end

    if access == 1
       and not (id.confirmed and head[EMAIL] ~= ""
                and head[EMAIL] == id.email)
       and not (by_subject.found and by_subject[LINK] == "")
    then
        return nil, 403, "not_named"
    end

    local grant

    if by_email and by_email.found and by_email[ACCEPTED_AT] ~= ""
       and (by_email[ISS] == ""
            or (by_email[ISS] == id.iss and by_email[SUB] == id.sub))
    then
        grant = by_email

    elseif by_subject.found and by_subject[ACCEPTED_AT] ~= "" then
        grant = by_subject

    else
        return nil, 403, "not_accepted"
    end

    local version = head[MODE] == "live" and head[VERSION]
        or grant[ACCEPTED]

    return {
        exp = exp,
        view = v,
        permission = permission,
        version = version,
        access = access,
        document = conf.prefix .. "doc:{" .. link.relay .. "}:" .. version,
        view_key = link.relay .. "\n" .. version .. "\n" .. head[EPOCH] .. "\n"
            .. v .. "\n" .. permission,
        middle = ',"relay":"' .. link.relay .. '","version":' .. version
            .. ',"link":"' .. link.digest .. '","grant":"' .. grant[ID] .. '",'
            .. id.json .. ',"view":"' .. VIEW_NAMES[v]
            .. '","permission":"' .. PERMISSION_NAMES[permission]
            .. '","channel":"http","method":"',
    }
end


-------------------------------------------------------------------------------
-- the store

-- A link's relay never changes.

local function link_of(red, token)
    local link = links:get(token)

    if link then
        return link
    end

    if #token < 22 or #token > 128 or find(token, "[^%w_-]") then
        return nil, 404, "unknown_link"
    end

    local hash = digest(token)
    local relay, err = red:get(conf.prefix .. "link:" .. hash)

    if not relay then
        return nil, 503, "store_unavailable"
    end

    if relay == null then
        return nil, 404, "unknown_link"
    end

    local base = conf.prefix .. "{" .. relay .. "}"

    link = {
        token = token,
        digest = hash,
        relay = relay,
        head = base,
        record = base .. ":l:" .. hash,
        grants = base .. ":g:",
        stream = conf.prefix .. "receipts:{" .. relay .. "}",
    }

    links:set(token, link)

    return link
end


local function ask_blocks(red, id)
    local blocks = id.blocks

    for i = 1, #blocks do
        red:hget(blocks[i], "state")
    end

    red:hget(conf.prefix .. "block:domain:*", "count")
end


-- Whether one of them is active; nil where a reply is not what it should be.

local function blocked(id, replies, from, anyone)
    local n = #id.blocks

    for i = from, from + n - 1 do
        local state = replies[i]

        if state ~= null and state ~= "lifted" then
            return true
        end
    end

    local count = replies[from + n]

    return id.email == "" and anyone and count ~= null and count ~= "0"
end


local function records(red, link, id, with_blocks)
    red:init_pipeline(10)

    red:hmget(link.head, unpack(FIELDS))
    red:hmget(link.record, unpack(FIELDS))
    red:hmget(link.grants .. id.by_subject, unpack(FIELDS))

    local n = 3

    if id.by_email then
        red:hmget(link.grants .. id.by_email, unpack(FIELDS))
        n = 4
    end

    if with_blocks then
        ask_blocks(red, id)
    end

    local replies = red:commit_pipeline()

    if not replies then
        return nil, 503, "store_unavailable"
    end

    for i = 1, n do
        if type(replies[i]) ~= "table" or #replies[i] ~= #FIELDS then
            return nil, 503, "store_unavailable"
        end

        record(replies[i])
    end

    return replies, n
end


local function decision_of(red, link, id)
    local key = conf.guarded and link.token .. id.key
    local d = key and decisions:get(key)

    if not d then
        local replies, n, reason = records(red, link, id, true)

        if not replies then
            return nil, n, reason
        end

        local head, rec = replies[1], replies[2]
        local status

        d, status, reason = decide(id, link, head, rec, replies[3],
                                   n == 4 and replies[4] or nil)

        if blocked(id, replies, n + 1, head[ACC] == "anyone") then
            return nil, 403, "blocked"
        end

        if not d then
            return nil, status, reason
        end

        d.keys = {
            link.head, link.record, link.grants .. id.by_subject,
            id.by_email and link.grants .. id.by_email or nil,
        }

        d.keys[n + 1] = link.stream
        d.n = n + 1
        d.fingerprints = {}

        for i = 1, n do
            d.fingerprints[i] = replies[i].fingerprint
        end

        if key then
            d.looked = now()
            decisions:set(key, d)
        end

        return d
    end

    if d.exp ~= 0 and d.exp <= now() * 1000 then
        return nil, 410, "expired"
    end

    if d.looked + conf.bound <= now() then
        local asked = now()

        red:init_pipeline(5)
        ask_blocks(red, id)

        local replies = red:commit_pipeline()

        if not replies then
            return nil, 503, "store_unavailable"
        end

        if blocked(id, replies, 1, d.access == 2) then
            decisions:delete(key)
            return nil, 403, "blocked"
        end

        d.looked = asked
    end

    return d
end


local function project(red, d, link)
    local text = red:get(d.document)

    if not text then
        return nil, 503, "store_unavailable"
    end

    if text == null then
        return nil, 502, "withheld"
    end

    local doc = cjson.decode(text)

    if type(doc) ~= "table" or doc.id ~= link.relay
       or tostring(doc.version) ~= d.version
       or VIEW_NAMES[d.view] ~= "recipient"
    then
        return nil, 502, "withheld"
    end

    local out, withheld = view.recipient(doc)

    if not out then
        return nil, 502, "withheld"
    end

    return {
        text = out,
        receipt = ',"bytes":' .. #out .. ',"digest":"' .. digest(out)
            .. '","withheld":' .. withheld .. "}",
    }
end


local function body_of(red, d, link)
    if not conf.cached then
        return project(red, d, link)
    end

    local key = d.view_key
    local body = bodies:get(key)

    if body then
        return body
    end

    local views = ngx.shared.views
    local text, receipt = views:get(key), views:get("r" .. key)

    if text and receipt then
        body = { text = text, receipt = receipt }

    else
        local status, reason

        body, status, reason = project(red, d, link)

        if not body then
            return nil, status, reason
        end

        views:set(key, body.text)
        views:set("r" .. key, body.receipt)
    end

    bodies:set(key, body)

    return body
end


local function serve(red, d, body)
    sequence = sequence + 1

    local receipt = '{"kind":"read","id":"' .. process .. "-" .. sequence
        .. '","time":' .. ("%.0f"):format(now() * 1000) .. d.middle
        .. ngx.req.get_method() .. '","reason":"served","status":200'
        .. body.receipt

    local k, f = d.keys, d.fingerprints
    local res, err

    if d.n == 5 then
        res, err = red:evalsha(conf.sha1, 5, k[1], k[2], k[3], k[4], k[5],
                               receipt, "1", f[1], f[2], f[3], f[4])
    else
        res, err = red:evalsha(conf.sha1, 4, k[1], k[2], k[3], k[4],
                               receipt, "1", f[1], f[2], f[3])
    end

    if res == false and sub(err, 1, 8) == "NOSCRIPT" then
        if d.n == 5 then
            res = red:eval(conf.script, 5, k[1], k[2], k[3], k[4], k[5],
                           receipt, "1", f[1], f[2], f[3], f[4])
        else
            res = red:eval(conf.script, 4, k[1], k[2], k[3], k[4],
                           receipt, "1", f[1], f[2], f[3])
        end
    end

    return type(res) == "table" and res[1] or nil
end


-------------------------------------------------------------------------------

local function refuse(status, reason)
    ngx.status = status
    ngx.print('{"error":{"status":', status, ',"reason":"', reason, '"}}')
end


local function read(red, id, token)
    local link, status, reason = link_of(red, token)

    if not link then
        return nil, status, reason
    end

    for _ = 1, 3 do
        local d, body

        d, status, reason = decision_of(red, link, id)

        if not d then
            return nil, status, reason
        end

        body, status, reason = body_of(red, d, link)

        if not body then
            return nil, status, reason
        end

        local word = serve(red, d, body)

        if word == "ok" then
            return body
        end

        if not word then
            return nil, 503, "receipt_unavailable"
        end

        -- "stale" or "expired": decided afresh on what is there now

        decisions:delete(link.token .. id.key)
        update_time()
    end

    return nil, 503, "store_unavailable"
end


function _M.read()
    local var = ngx.var
    local id, reason = identify()

    if not id then
        return refuse(401, reason)
    end

    if var.http_sec_purpose then
        return refuse(403, "prefetch")
    end

    if var.http_early_data == "1" then
        return refuse(425, "early_data")
    end

    local red = redis:new()

    red:set_timeout(1000)

    if not red:connect(conf.redis) then
        return refuse(503, "store_unavailable")
    end

    local body, status, why = read(red, id, sub(var.uri, 4))

    if status ~= 503 then
        red:set_keepalive(60000, 64)
    end

    if not body then
        return refuse(status, why)
    end

    ngx.header.content_length = #body.text
    ngx.print(body.text)
end


return _M
