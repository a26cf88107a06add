
/*
 * relay_quality: the extraction standard's checks of a package, as a table of
 * rules in the order in which they are run.
 */

#include <stdlib.h>

#include "relay_pointer.h"
#include "relay_quality_rule.h"


static const relay_quality_rule_t  relay_quality_rules[] = {

    { "Q1", RELAY_QUALITY_AUDIENCE, RELAY_QUALITY_BLOCK, 0,
      relay_quality_email, "audience", "email",
      "No email: a relay for a named person needs the address they sign in "
      "with. Add it, confirmed by the owner." },

    { "Q2", RELAY_QUALITY_AUDIENCE, RELAY_QUALITY_FLAG, 0,
      relay_quality_missing, "audience", "knowsAlready",
      "Nothing on what they already know." },

    { "Q3", RELAY_QUALITY_INTENT, RELAY_QUALITY_FLAG, 0,
      relay_quality_outcome, "intent", "outcome",
      "Outcome is only the agent's reading. Ask the owner to confirm or "
      "correct it." },

    { "Q4", RELAY_QUALITY_INTENT, RELAY_QUALITY_FLAG, RELAY_QUALITY_DEEP,
      relay_quality_missing, "intent", "interests",
      "No interests at working or full depth. Say why the outcome matters to "
      "the owner." },

    { "R6", RELAY_QUALITY_INTENT, RELAY_QUALITY_FLAG, 0,
      relay_quality_request, NULL, "summary",
      "The summary reads like the owner's request to their agent (relay ... "
      "to ... for ...). Write it for the recipient." },

    { "X1", RELAY_QUALITY_INTENT, RELAY_QUALITY_FLAG, 0,
      relay_quality_shared, "intent", "statement",
      "Repeats the private request, which the recipient does not see" },

    { "Q5", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_missing, "process", "sourcesConsulted",
      "No sources listed." },

    { "Q6", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_sources, "context", "sections",
      "A claim marked sourced with no source" },

    { "Q7", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_claims, "context", "sections",
      "A section with no claims" },

    { "Q8", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_figures, "context", "sections",
      "A figure in a section that no claim backs" },

    { "Q9", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_INFO, 0,
      relay_quality_unreviewed, "interpretation", "inferences",
      "An unreviewed inference" },

    { "R1", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_numbers, "context", "sections",
      "A figure without a source, which the owner did not state either" },

    { "R2", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_consent, "process", "sourcesConsulted",
      "A connector without the owner's consent" },

    { "R3", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_corrected, "interpretation", "inferences",
      "Marked corrected, without what was corrected" },

    { "R8", RELAY_QUALITY_GROUNDING, RELAY_QUALITY_FLAG, 0,
      relay_quality_ids, NULL, NULL,
      "Names something that is not in the package" },

    { "Q10", RELAY_QUALITY_ANSWERABILITY, RELAY_QUALITY_FLAG, 0,
      relay_quality_rehearsed, "audience", "likelyQuestions",
      "Likely question without a rehearsed answer" },

    { "Q11", RELAY_QUALITY_ANSWERABILITY, RELAY_QUALITY_FLAG,
      RELAY_QUALITY_DEEP,
      relay_quality_fewer, "representation", "fidelityChecks",
      "Fewer than 3 rehearsed answers at working or full depth." },

    { "Q12", RELAY_QUALITY_ANSWERABILITY, RELAY_QUALITY_FLAG,
      RELAY_QUALITY_DEEP,
      relay_quality_missing, "reasoning", "decisions",
      "No decisions at working or full depth." },

    { "Q13", RELAY_QUALITY_ANSWERABILITY, RELAY_QUALITY_FLAG, 0,
      relay_quality_decided, "reasoning", "decisions",
      "A decided item with no reason" },

    { "Q14", RELAY_QUALITY_ANSWERABILITY, RELAY_QUALITY_FLAG,
      RELAY_QUALITY_FULL,
      relay_quality_missing, "reasoning", "counterarguments",
      "No objections at full depth." },

    { "R4", RELAY_QUALITY_ANSWERABILITY, RELAY_QUALITY_INFO, 0,
      relay_quality_more, "audience", "likelyQuestions",
      "More than ten likely questions." },

    { "Q15", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_FLAG, RELAY_QUALITY_BRIEF,
      relay_quality_brief, NULL, "depth",
      "Brief depth for an ask beyond inform." },

    { "Q16", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_FLAG, 0,
      relay_quality_fewer, "audience", "likelyQuestions",
      "Fewer than 5 likely questions." },

    { "Q17", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_FLAG, RELAY_QUALITY_DEEP,
      relay_quality_thin, "context", "sections",
      "Under 200 words of context at working or full depth." },

    { "Q18", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_INFO, 0,
      relay_quality_variables, "reasoning", "variables",
      "No variables for an ask to agree, decide or evaluate." },

    { "Q19", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_FLAG, RELAY_QUALITY_FULL,
      relay_quality_principles, "reasoning", "assumptions",
      "No assumptions or no principles at full depth." },

    { "Q20", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_INFO, RELAY_QUALITY_FULL,
      relay_quality_open, "reasoning", "unknowns",
      "No open questions at full depth." },

    { "Q21", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_INFO, 0,
      relay_quality_missing, "interaction", "expectedResponse",
      "Nothing on what the owner hopes to get back." },

    { "R5", RELAY_QUALITY_COVERAGE, RELAY_QUALITY_INFO, 0,
      relay_quality_elastic, "reasoning", "variables",
      "An elastic variable that does not say how far it moves or against "
      "what" },

    { "Q22", RELAY_QUALITY_REPRESENTATION, RELAY_QUALITY_FLAG, 0,
      relay_quality_missing, "representation", "mustAskOwner",
      "Empty must-ask list." },

    { "Q23", RELAY_QUALITY_REPRESENTATION, RELAY_QUALITY_FLAG, 0,
      relay_quality_missing, "representation", "mustNot",
      "Empty never list." },

    { "Q24", RELAY_QUALITY_REPRESENTATION, RELAY_QUALITY_FLAG, 0,
      relay_quality_free, "representation", "fidelity",
      "Free extrapolation." },

    { "Q25", RELAY_QUALITY_REPRESENTATION, RELAY_QUALITY_INFO, 0,
      relay_quality_missing, "representation", "opening",
      "No opening." },

    { "R7", RELAY_QUALITY_REPRESENTATION, RELAY_QUALITY_FLAG, 0,
      relay_quality_approver, NULL, "approvedBy",
      "Approved by somebody who is not the owner." }
};

#define RELAY_QUALITY_RULES                                                   \
    (sizeof(relay_quality_rules) / sizeof(relay_quality_rules[0]))


static const char *const  relay_quality_areas[] = {
    "Audience", "Intent", "Grounding", "Answerability", "Coverage", "Safety",
    "Representation"
};

static const char *const  relay_quality_severities[] = {
    "info", "flag", "block"
};


const char *
relay_quality_area(relay_quality_area_e area)
{
    return relay_quality_areas[area];
}


const char *
relay_quality_severity(relay_quality_severity_e severity)
{
    return relay_quality_severities[severity];
}


relay_int_t
relay_quality_pointer(const relay_json_tape_t *tape, const relay_str_t *doc,
    size_t node, const char *member, relay_buf_t *out)
{
    relay_int_t  rc;
    relay_str_t  name;

    rc = relay_pointer_append(tape, doc, node, out);

    if (rc == RELAY_OK && member != NULL) {
        name.data = (unsigned char *) member;
        name.len = strlen(member);
        rc = relay_pointer_append_member(out, &name);
    }

    return rc;
}


static relay_int_t
relay_quality_run(const relay_json_tape_t *tape, const relay_str_t *doc,
    const char *id, relay_quality_note_pt note, void *data)
{
    size_t                       i;
    relay_quality_ctx_t          ctx;
    const relay_quality_rule_t  *rule;

    memset(&ctx, 0, sizeof(relay_quality_ctx_t));

    ctx.tape = tape;
    ctx.nodes = tape->nodes;
    ctx.doc = doc;
    ctx.note = note;
    ctx.data = data;
    ctx.rc = RELAY_OK;

    relay_buf_init(&ctx.mem, RELAY_DOCUMENT_MAX);
    relay_buf_init(&ctx.sentence, 4096);

    if (relay_quality_is(&ctx, 0, "depth", "full")) {
        ctx.depth = RELAY_QUALITY_FULL;

    } else if (relay_quality_is(&ctx, 0, "depth", "working")) {
        ctx.depth = RELAY_QUALITY_WORKING;

    } else {
        ctx.depth = RELAY_QUALITY_BRIEF;
    }

    for (i = 0; i < RELAY_QUALITY_RULES && ctx.rc == RELAY_OK; i++) {
        rule = &relay_quality_rules[i];

        if ((id == NULL || strcmp(id, rule->id) == 0)
            && (rule->depths == 0 || (rule->depths & ctx.depth)))
        {
            rule->check(&ctx, rule);
        }
    }

    relay_buf_free(&ctx.mem);
    relay_buf_free(&ctx.sentence);
    free(ctx.set.data);

    return ctx.rc;
}


relay_int_t
relay_quality_package(const relay_json_tape_t *tape, const relay_str_t *doc,
    relay_quality_note_pt note, void *data)
{
    return relay_quality_run(tape, doc, NULL, note, data);
}


relay_int_t
relay_quality_repeats(const relay_json_tape_t *tape, const relay_str_t *doc,
    relay_quality_note_pt note, void *data)
{
    return relay_quality_run(tape, doc, "X1", note, data);
}
