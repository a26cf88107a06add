-- The recipient's view of a decoded package, as somebody who writes for LuaJIT
-- would: the rules of schema/views/relay.context-package.v1.json turned into
-- one tree of tables and functions by hand, and the decoded document, which is
-- this request's own, changed in place.
--
-- A rule is KEEP (a text or a number), MARK (a string, else all is withheld),
-- CODE (a short word), a table of rules (an object), a list of one rule (an
-- array of such elements), or a function that is given the value and the object
-- it stands in and returns what stays, nil: nothing.

local cjson = require "cjson.safe"

local type, pairs, error, pcall = type, pairs, error, pcall
local find, gsub, lower, sub =
    string.find, string.gsub, string.lower, string.sub
local encode = cjson.encode

local _M = { SCHEMA = "relay.context-package.v1" }

local KEEP, MARK, CODE = 1, 2, 3

-- of the document at hand

local private, private_len, labelled, asked
local withheld = 0


local function text(value)
    if type(value) == "table" then
        return nil
    end

    if type(value) == "string" and #value >= private_len
       and (value == private
            or (private_len >= 8 and find(value, private, 1, true)))
    then
        withheld = withheld + 1
        return ""
    end

    return value
end


local project


local function array(list, rule)
    local n = 0

    for i = 1, #list do
        local value = project(list[i], rule, list)

        if value == nil then
            withheld = withheld + 1

        else
            n = n + 1
            list[n] = value
        end
    end

    for i = #list, n + 1, -1 do
        list[i] = nil
    end

    return list
end


local function object(o, rules)
    for name, value in pairs(o) do
        local rule = rules[name]

        if rule == nil then
            withheld = withheld + 1
            o[name] = nil

        elseif rule == KEEP and type(value) == "string"
            and #value < private_len
        then
            -- nothing to do, and the usual case

        else
            local kept = project(value, rule, o)

            if kept == nil then
                withheld = withheld + 1
            end

            o[name] = kept
        end
    end

    return o
end


project = function(value, rule, parent)
    if rule == KEEP then
        return text(value)
    end

    if rule == CODE then
        if type(value) == "string" and #value <= 40 then
            return value
        end

        return text(value)
    end

    if rule == MARK then
        if type(value) ~= "string" then
            error("mark")
        end

        return value
    end

    if type(rule) == "function" then
        return rule(value, parent)
    end

    if type(value) ~= "table" then
        return nil
    end

    if rule[1] ~= nil then
        return array(value, rule[1])
    end

    return object(value, rule)
end


local function blank(value)
    withheld = withheld + 1
    return ""
end


local VALUE = { text = KEEP, provenance = MARK }
local TEXTS = { KEEP }


local function inferred(rules)
    return function(value)
        if type(value) ~= "table" then
            return nil
        end

        local provenance = value.provenance

        if provenance ~= nil and type(provenance) ~= "string" then
            error("mark")
        end

        if (provenance == nil or provenance == "inferred") and not labelled then
            return nil
        end

        return object(value, rules)
    end
end


local OPTIONAL = inferred(VALUE)


local function words(s)
    return (gsub(lower(s), "[^%w\128-\255]+", " "))
end


local INFERENCE = {
    id = KEEP, basis = blank, verdict = MARK, reading = KEEP,
    confidence = CODE, correction = KEEP,
}


local function inference(value)
    if type(value) ~= "table" then
        return nil
    end

    local verdict = value.verdict

    if verdict ~= nil and type(verdict) ~= "string" then
        error("mark")
    end

    if verdict == "corrected" then
        value.reading = type(value.correction) == "string" and value.correction
            or ""
        value.confidence = nil
        withheld = withheld + 2

        return object(value, INFERENCE)
    end

    if verdict ~= "confirmed"
       and not (verdict == "unreviewed" and labelled)
    then
        return nil
    end

    if value.correction ~= nil then
        value.correction = nil
        withheld = withheld + 1
    end

    return object(value, INFERENCE)
end


local function reviewed(value, interpretation)
    local verdict = interpretation.restatementVerdict

    if verdict == "confirmed" or verdict == "corrected" then
        return text(value)
    end

    return blank()
end


local function verdict(value)
    if type(value) ~= "string" then
        error("mark")
    end

    if value == "confirmed" or value == "corrected" then
        return value
    end
end


local CHECK = { question = KEEP, approvedAnswer = KEEP, ownerEdited = CODE }


local function check(value)
    if type(value) ~= "table" then
        return nil
    end

    if type(value.question) == "string" and asked[words(value.question)] then
        return nil
    end

    return object(value, CHECK)
end


local function flag(value)
    if type(value) ~= "boolean" then
        error("mark")
    end

    return value
end


local REPRESENTATION = {
    role = CODE,
    opening = { greeting = KEEP, starters = TEXTS },
    speaksAs = KEEP,
    fidelity = {
        quoteStatedIntent = CODE, labelInterpretations = flag,
        citeSections = CODE, extrapolation = CODE,
    },
    may = TEXTS,
    mustAskOwner = TEXTS,
    mustNot = TEXTS,
    whenUnknown = CODE,
    passOn = KEEP,
    fidelityChecks = { check },
}


local PACKAGE = {
    schema = CODE,
    id = KEEP,
    title = KEEP,
    summary = KEEP,
    changeNote = KEEP,
    version = CODE,
    depth = CODE,
    owner = { name = KEEP, contact = KEEP },
    approvedBy = KEEP,
    approvedAt = CODE,
    producedBy = { client = CODE, model = KEEP, method = CODE },
    audience = {
        name = KEEP, kind = CODE, relationship = KEEP, role = KEEP,
        organization = KEEP, knowsAlready = TEXTS, caresAbout = TEXTS,
        likelyQuestions = TEXTS, register = KEEP, access = CODE,
    },
    intent = {
        statement = blank,
        outcome = VALUE,
        successLooksLike = { OPTIONAL },
        ask = { type = CODE, detail = VALUE, byWhen = KEEP },
        whyNow = OPTIONAL,
        whyThisAudience = OPTIONAL,
        interests = { OPTIONAL },
        priorities = { OPTIONAL },
        nonGoals = { OPTIONAL },
    },
    interpretation = {
        restatement = reviewed,
        restatementVerdict = verdict,
        inferences = { inference },
        openAmbiguities = TEXTS,
    },
    context = {
        subject = KEEP,
        sections = { {
            id = KEEP,
            title = KEEP,
            purpose = KEEP,
            body = KEEP,
            claims = { {
                id = KEEP, text = KEEP, provenance = MARK, sources = TEXTS,
                confidence = CODE, asOf = KEEP, validUntil = MARK,
                visibility = MARK,
            } },
            version = CODE,
            updatedAt = CODE,
            visibility = MARK,
        } },
        excluded = { { topic = KEEP, reason = blank } },
    },
    attachments = { {
        id = KEEP, title = KEEP, kind = CODE, pages = CODE, download = CODE,
        slides = { { page = CODE, title = KEEP, supports = TEXTS } },
    } },
    reasoning = {
        decisions = { {
            id = KEEP, question = KEEP, status = CODE, decider = CODE,
            byWhen = KEEP,
            options = { {
                label = KEEP, pros = TEXTS, cons = TEXTS, ownerView = OPTIONAL,
            } },
            choice = KEEP,
            rationale = OPTIONAL,
            criteria = { { name = KEEP, weight = CODE, why = KEEP } },
            tradeoffsAccepted = TEXTS,
            reversibility = CODE,
            whatWouldChangeIt = TEXTS,
        } },
        variables = { inferred {
            name = KEEP, value = KEEP, acceptable = KEEP, gate = CODE,
            tradesAgainst = TEXTS, provenance = MARK, visibility = MARK,
        } },
        assumptions = { inferred {
            statement = KEEP, confidence = CODE, basis = KEEP, ifWrong = KEEP,
            howToTest = KEEP, provenance = MARK,
        } },
        evidence = { {
            supports = KEEP, kind = CODE, pointer = KEEP, strength = CODE,
        } },
        risks = { {
            risk = KEEP, likelihood = CODE, impact = CODE, mitigation = KEEP,
        } },
        counterarguments = { { argument = KEEP, ownerResponse = OPTIONAL } },
        unknowns = { {
            question = KEEP, whyItMatters = KEEP, whoCanAnswer = KEEP,
        } },
    },
    judgement = {
        principles = { { principle = KEEP, example = KEEP } },
        preferences = { { prefer = KEEP, over = KEEP, when = KEEP } },
        redLines = TEXTS,
        confidence = KEEP,
    },
    process = {
        sourcesConsulted = { { name = KEEP, kind = CODE } },
        decisionProcess = KEEP,
        nextSteps = { { step = KEEP, owner = KEEP, due = KEEP } },
    },
    interaction = {
        permission = CODE, returnChannel = KEEP, expectedResponse = KEEP,
    },
    lifecycle = {
        mode = CODE, expiresAt = CODE, refresh = CODE, staleSections = TEXTS,
    },
}


local function recipient(doc)
    local mandate, sections

    if doc.schema ~= _M.SCHEMA then
        return nil
    end

    private = type(doc.intent) == "table" and doc.intent.statement
    private = type(private) == "string" and private ~= "" and private or nil
    private_len = private and #private or math.huge

    mandate = type(doc.representation) == "table" and doc.representation or {}

    labelled = type(mandate.fidelity) == "table"
        and mandate.fidelity.labelInterpretations == true

    asked = {}

    if type(mandate.mustAskOwner) == "table" then
        for _, topic in pairs(mandate.mustAskOwner) do
            if type(topic) == "string" then
                asked[words(topic)] = true
            end
        end
    end

    withheld = 0
    doc.representation = nil

    object(doc, PACKAGE)
    object(mandate, REPRESENTATION)

    sections = type(doc.context) == "table" and doc.context.sections

    if type(sections) ~= "table" or #sections == 0 then
        return nil
    end

    -- the mandate comes before the content

    return '{"representation":' .. encode(mandate) .. ","
        .. sub(encode(doc), 2), withheld
end


-- The view and how many members and elements it leaves out or changes; nil:
-- withheld.

function _M.recipient(doc)
    local ok, out, n = pcall(recipient, doc)

    if ok then
        return out, n
    end
end


return _M
