
/*
 * The field table of a relay.context-package.v1: what each view gets of every
 * field that the schema knows.  Written by hand and read by tests only: they
 * hold the policy and the engine against it, so that neither is tested with
 * its own words.
 */

#ifndef _VIEW_TABLE_H_INCLUDED_
#define _VIEW_TABLE_H_INCLUDED_


/*
 * kind: o, a: an object, an array; t: a text; c: a code, of an enumeration or
 * a number or a time; m, f: a mark, a string or a flag that the views depend
 * on, whose wrong type withholds the document.
 *
 * gets: one letter for each of recipient, link, pass-on, preview:
 *
 *   Y  as it is         -  nothing         0  ""
 *   K  the constant     otherwise a condition:
 *
 *   V  an optional value: not inferred, or labelled
 *   S  the section is explicitly shareable
 *   E  the claim's mark, or else its section's, is shareable
 *   F  the same, and it has not expired
 *   W  the variable is explicitly shareable
 *   B  the same, and V
 *   R  "" unless restatementVerdict is confirmed or corrected
 *   r  left out then
 *   I  the inference is confirmed or corrected, or unreviewed and labelled
 *   i  the correction of a corrected inference, else the reading
 *   n  not of a corrected inference
 *   x  of a corrected inference only
 *   J  the section's claims, where one of them is withheld
 *   U  it names nothing that is withheld
 *   L  the slide supports something that is left, or nothing at all
 *   Q  the question is not for the owner alone
 */

typedef struct {
    const char  *path;          /* names; "*" is any element */
    char         kind;
    const char  *gets;
    const char  *constant;      /* JSON, of K */
} view_row_t;


#define TEXTS(path, gets)                                                     \
    { path, 'a', gets, NULL },                                                \
    { path "/*", 't', gets, NULL }

#define VALUE(path, object, members)                                          \
    { path, 'o', object, NULL },                                              \
    { path "/text", 't', members, NULL },                                     \
    { path "/provenance", 'm', members, NULL },                               \
    { path "/agentReading", 't', "----", NULL }

#define VALUES(path, object, members)                                         \
    { path, 'a', members, NULL },                                             \
    VALUE(path "/*", object, members)


static const view_row_t  view_table[] = {

    { "", 'o', "YYYY", NULL },

    { "schema", 'c', "YYY-", NULL },
    { "id", 't', "YYY-", NULL },
    { "title", 't', "YY-Y", NULL },
    { "summary", 't', "YY-Y", NULL },
    { "changeNote", 't', "YY--", NULL },
    { "version", 'c', "YYY-", NULL },
    { "depth", 'c', "YYK-", "\"brief\"" },

    { "owner", 'o', "YYYY", NULL },
    { "owner/name", 't', "YYYY", NULL },
    { "owner/id", 't', "----", NULL },
    { "owner/contact", 't', "YY--", NULL },

    { "approvedBy", 't', "YYY-", NULL },
    { "approvedAt", 'c', "YYY-", NULL },

    { "producedBy", 'o', "YYY-", NULL },
    { "producedBy/client", 'c', "YYY-", NULL },
    { "producedBy/model", 't', "YY--", NULL },
    { "producedBy/method", 'c', "YYY-", NULL },
    { "producedBy/sessionRef", 't', "----", NULL },

    { "audience", 'o', "YYK-",
      "{\"name\": \"Pass-on reader\", \"relationship\": \"pass-on\"}" },
    { "audience/name", 't', "YY--", NULL },
    { "audience/kind", 'c', "YY--", NULL },
    { "audience/email", 't', "----", NULL },
    { "audience/relationship", 't', "YY--", NULL },
    { "audience/role", 't', "YY--", NULL },
    { "audience/organization", 't', "YY--", NULL },
    TEXTS("audience/knowsAlready", "Y---"),
    TEXTS("audience/caresAbout", "Y---"),
    TEXTS("audience/likelyQuestions", "Y---"),
    { "audience/register", 't', "YY--", NULL },
    { "audience/access", 'c', "YY--", NULL },

    { "intent", 'o', "YYK-",
      "{\"statement\": \"\","
      " \"outcome\": {\"text\": \"\", \"provenance\": \"derived\"},"
      " \"ask\": {\"type\": \"inform\", \"detail\":"
      "           {\"text\": \"\", \"provenance\": \"derived\"}}}" },
    { "intent/statement", 't', "00--", NULL },
    VALUE("intent/outcome", "YY--", "YY--"),
    VALUES("intent/successLooksLike", "VV--", "YY--"),
    { "intent/ask", 'o', "YY--", NULL },
    { "intent/ask/type", 'c', "YY--", NULL },
    VALUE("intent/ask/detail", "YY--", "YY--"),
    { "intent/ask/byWhen", 't', "YY--", NULL },
    VALUE("intent/whyNow", "VV--", "YY--"),
    VALUE("intent/whyThisAudience", "VV--", "YY--"),
    VALUES("intent/interests", "VV--", "YY--"),
    VALUES("intent/priorities", "VV--", "YY--"),
    VALUES("intent/nonGoals", "VV--", "YY--"),

    { "interpretation", 'o', "YYK-",
      "{\"restatement\": \"\", \"inferences\": []}" },
    { "interpretation/restatement", 't', "RR--", NULL },
    { "interpretation/restatementVerdict", 'm', "rr--", NULL },
    { "interpretation/inferences", 'a', "YY--", NULL },
    { "interpretation/inferences/*", 'o', "II--", NULL },
    { "interpretation/inferences/*/id", 't', "YY--", NULL },
    { "interpretation/inferences/*/reading", 't', "ii--", NULL },
    { "interpretation/inferences/*/basis", 't', "00--", NULL },
    { "interpretation/inferences/*/confidence", 'c', "nn--", NULL },
    { "interpretation/inferences/*/verdict", 'm', "YY--", NULL },
    { "interpretation/inferences/*/correction", 't', "xx--", NULL },
    { "interpretation/clarifications", 'a', "----", NULL },
    { "interpretation/clarifications/*", 'o', "----", NULL },
    { "interpretation/clarifications/*/question", 't', "----", NULL },
    { "interpretation/clarifications/*/answer", 't', "----", NULL },
    TEXTS("interpretation/openAmbiguities", "YY--"),
    { "interpretation/reviewedIn", 'c', "----", NULL },

    { "context", 'o', "YYY-", NULL },
    { "context/subject", 't', "YY0-", NULL },
    { "context/sections", 'a', "YYY-", NULL },
    { "context/sections/*", 'o', "YSS-", NULL },
    { "context/sections/*/id", 't', "YYY-", NULL },
    { "context/sections/*/title", 't', "YYY-", NULL },
    { "context/sections/*/purpose", 't', "YY--", NULL },
    { "context/sections/*/body", 't', "YJJ-", NULL },
    { "context/sections/*/claims", 'a', "YYY-", NULL },
    { "context/sections/*/claims/*", 'o', "YEF-", NULL },
    { "context/sections/*/claims/*/id", 't', "YYY-", NULL },
    { "context/sections/*/claims/*/text", 't', "YYY-", NULL },
    { "context/sections/*/claims/*/provenance", 'm', "YYY-", NULL },
    { "context/sections/*/claims/*/sources", 'a', "YYY-", NULL },
    { "context/sections/*/claims/*/sources/*", 't', "YUU-", NULL },
    { "context/sections/*/claims/*/confidence", 'c', "YYY-", NULL },
    { "context/sections/*/claims/*/asOf", 't', "YYY-", NULL },
    { "context/sections/*/claims/*/validUntil", 'm', "YYY-", NULL },
    { "context/sections/*/claims/*/visibility", 'm', "YYY-", NULL },
    { "context/sections/*/version", 'c', "YYY-", NULL },
    { "context/sections/*/updatedAt", 'c', "YYY-", NULL },
    { "context/sections/*/visibility", 'm', "YYY-", NULL },
    { "context/excluded", 'a', "YY--", NULL },
    { "context/excluded/*", 'o', "YY--", NULL },
    { "context/excluded/*/topic", 't', "YY--", NULL },
    { "context/excluded/*/reason", 't', "00--", NULL },

    { "attachments", 'a', "YY--", NULL },
    { "attachments/*", 'o', "YY--", NULL },
    { "attachments/*/id", 't', "YY--", NULL },
    { "attachments/*/title", 't', "YY--", NULL },
    { "attachments/*/kind", 'c', "YY--", NULL },
    { "attachments/*/pages", 'c', "YY--", NULL },
    { "attachments/*/download", 'c', "YY--", NULL },
    { "attachments/*/slides", 'a', "YY--", NULL },
    { "attachments/*/slides/*", 'o', "YL--", NULL },
    { "attachments/*/slides/*/page", 'c', "YY--", NULL },
    { "attachments/*/slides/*/title", 't', "YY--", NULL },
    { "attachments/*/slides/*/supports", 'a', "YY--", NULL },
    { "attachments/*/slides/*/supports/*", 't', "YU--", NULL },

    { "reasoning", 'o', "YYY-", NULL },
    { "reasoning/decisions", 'a', "YY--", NULL },
    { "reasoning/decisions/*", 'o', "YY--", NULL },
    { "reasoning/decisions/*/id", 't', "YY--", NULL },
    { "reasoning/decisions/*/question", 't', "YY--", NULL },
    { "reasoning/decisions/*/status", 'c', "YY--", NULL },
    { "reasoning/decisions/*/decider", 'c', "YY--", NULL },
    { "reasoning/decisions/*/byWhen", 't', "YY--", NULL },
    { "reasoning/decisions/*/options", 'a', "YY--", NULL },
    { "reasoning/decisions/*/options/*", 'o', "YY--", NULL },
    { "reasoning/decisions/*/options/*/label", 't', "YY--", NULL },
    TEXTS("reasoning/decisions/*/options/*/pros", "YY--"),
    TEXTS("reasoning/decisions/*/options/*/cons", "YY--"),
    VALUE("reasoning/decisions/*/options/*/ownerView", "VV--", "YY--"),
    { "reasoning/decisions/*/choice", 't', "YY--", NULL },
    VALUE("reasoning/decisions/*/rationale", "VV--", "YY--"),
    { "reasoning/decisions/*/criteria", 'a', "YY--", NULL },
    { "reasoning/decisions/*/criteria/*", 'o', "YY--", NULL },
    { "reasoning/decisions/*/criteria/*/name", 't', "YY--", NULL },
    { "reasoning/decisions/*/criteria/*/weight", 'c', "YY--", NULL },
    { "reasoning/decisions/*/criteria/*/why", 't', "YY--", NULL },
    TEXTS("reasoning/decisions/*/tradeoffsAccepted", "YY--"),
    { "reasoning/decisions/*/reversibility", 'c', "YY--", NULL },
    TEXTS("reasoning/decisions/*/whatWouldChangeIt", "YY--"),
    { "reasoning/variables", 'a', "YYY-", NULL },
    { "reasoning/variables/*", 'o', "VBW-", NULL },
    { "reasoning/variables/*/name", 't', "YYY-", NULL },
    { "reasoning/variables/*/value", 't', "YYY-", NULL },
    { "reasoning/variables/*/acceptable", 't', "YY--", NULL },
    { "reasoning/variables/*/gate", 'c', "YYY-", NULL },
    { "reasoning/variables/*/tradesAgainst", 'a', "YY--", NULL },
    { "reasoning/variables/*/tradesAgainst/*", 't', "YU--", NULL },
    { "reasoning/variables/*/provenance", 'm', "YYY-", NULL },
    { "reasoning/variables/*/visibility", 'm', "YYY-", NULL },
    { "reasoning/assumptions", 'a', "YY--", NULL },
    { "reasoning/assumptions/*", 'o', "VV--", NULL },
    { "reasoning/assumptions/*/statement", 't', "YY--", NULL },
    { "reasoning/assumptions/*/confidence", 'c', "YY--", NULL },
    { "reasoning/assumptions/*/basis", 't', "YY--", NULL },
    { "reasoning/assumptions/*/ifWrong", 't', "YY--", NULL },
    { "reasoning/assumptions/*/howToTest", 't', "YY--", NULL },
    { "reasoning/assumptions/*/provenance", 'm', "YY--", NULL },
    { "reasoning/evidence", 'a', "YY--", NULL },
    { "reasoning/evidence/*", 'o', "YU--", NULL },
    { "reasoning/evidence/*/supports", 't', "YY--", NULL },
    { "reasoning/evidence/*/kind", 'c', "YY--", NULL },
    { "reasoning/evidence/*/pointer", 't', "YY--", NULL },
    { "reasoning/evidence/*/strength", 'c', "YY--", NULL },
    { "reasoning/risks", 'a', "YY--", NULL },
    { "reasoning/risks/*", 'o', "YY--", NULL },
    { "reasoning/risks/*/risk", 't', "YY--", NULL },
    { "reasoning/risks/*/likelihood", 'c', "YY--", NULL },
    { "reasoning/risks/*/impact", 'c', "YY--", NULL },
    { "reasoning/risks/*/mitigation", 't', "YY--", NULL },
    { "reasoning/counterarguments", 'a', "YY--", NULL },
    { "reasoning/counterarguments/*", 'o', "YY--", NULL },
    { "reasoning/counterarguments/*/argument", 't', "YY--", NULL },
    VALUE("reasoning/counterarguments/*/ownerResponse", "VV--", "YY--"),
    { "reasoning/unknowns", 'a', "YY--", NULL },
    { "reasoning/unknowns/*", 'o', "YY--", NULL },
    { "reasoning/unknowns/*/question", 't', "YY--", NULL },
    { "reasoning/unknowns/*/whyItMatters", 't', "YY--", NULL },
    { "reasoning/unknowns/*/whoCanAnswer", 't', "YY--", NULL },

    { "judgement", 'o', "YY--", NULL },
    { "judgement/principles", 'a', "YY--", NULL },
    { "judgement/principles/*", 'o', "YY--", NULL },
    { "judgement/principles/*/principle", 't', "YY--", NULL },
    { "judgement/principles/*/example", 't', "YY--", NULL },
    { "judgement/preferences", 'a', "YY--", NULL },
    { "judgement/preferences/*", 'o', "YY--", NULL },
    { "judgement/preferences/*/prefer", 't', "YY--", NULL },
    { "judgement/preferences/*/over", 't', "YY--", NULL },
    { "judgement/preferences/*/when", 't', "YY--", NULL },
    TEXTS("judgement/redLines", "YY--"),
    { "judgement/confidence", 't', "YY--", NULL },

    { "process", 'o', "YY--", NULL },
    { "process/howProduced", 'a', "----", NULL },
    { "process/howProduced/*", 'o', "----", NULL },
    { "process/howProduced/*/step", 't', "----", NULL },
    { "process/howProduced/*/by", 'c', "----", NULL },
    { "process/sourcesConsulted", 'a', "YY--", NULL },
    { "process/sourcesConsulted/*", 'o', "YY--", NULL },
    { "process/sourcesConsulted/*/name", 't', "YY--", NULL },
    { "process/sourcesConsulted/*/kind", 'c', "YY--", NULL },
    { "process/sourcesConsulted/*/consent", 'c', "----", NULL },
    { "process/sourcesConsulted/*/scope", 't', "----", NULL },
    { "process/decisionProcess", 't', "YY--", NULL },
    { "process/nextSteps", 'a', "YY--", NULL },
    { "process/nextSteps/*", 'o', "YY--", NULL },
    { "process/nextSteps/*/step", 't', "YY--", NULL },
    { "process/nextSteps/*/owner", 't', "YY--", NULL },
    { "process/nextSteps/*/due", 't', "YY--", NULL },

    { "representation", 'o', "YYK-",
      "{\"role\": \"explain\","
      " \"fidelity\": {\"quoteStatedIntent\": false,"
      "   \"labelInterpretations\": true, \"citeSections\": true,"
      "   \"extrapolation\": \"never\"},"
      " \"mustAskOwner\": [\"Anything these sections do not say\"],"
      " \"mustNot\": [\"Speak for the owner beyond these sections\"],"
      " \"whenUnknown\": \"say-unspecified\"}" },
    { "representation/role", 'c', "YY--", NULL },
    { "representation/opening", 'o', "YY--", NULL },
    { "representation/opening/greeting", 't', "YY--", NULL },
    TEXTS("representation/opening/starters", "YY--"),
    { "representation/speaksAs", 't', "YY--", NULL },
    { "representation/fidelity", 'o', "YY--", NULL },
    { "representation/fidelity/quoteStatedIntent", 'c', "YY--", NULL },
    { "representation/fidelity/labelInterpretations", 'f', "YY--", NULL },
    { "representation/fidelity/citeSections", 'c', "YY--", NULL },
    { "representation/fidelity/extrapolation", 'c', "YY--", NULL },
    TEXTS("representation/may", "YY--"),
    TEXTS("representation/mustAskOwner", "YY--"),
    TEXTS("representation/mustNot", "YY--"),
    { "representation/whenUnknown", 'c', "YY--", NULL },
    { "representation/passOn", 't', "YY--", NULL },
    { "representation/fidelityChecks", 'a', "Y---", NULL },
    { "representation/fidelityChecks/*", 'o', "Q---", NULL },
    { "representation/fidelityChecks/*/question", 't', "Y---", NULL },
    { "representation/fidelityChecks/*/approvedAnswer", 't', "Y---", NULL },
    { "representation/fidelityChecks/*/ownerEdited", 'c', "Y---", NULL },

    { "interaction", 'o', "YYK-", "{\"permission\": \"read\"}" },
    { "interaction/permission", 'c', "YY--", NULL },
    { "interaction/returnChannel", 't', "YY--", NULL },
    { "interaction/expectedResponse", 't', "YY--", NULL },

    { "lifecycle", 'o', "YYY-", NULL },
    { "lifecycle/mode", 'c', "YYK-", "\"snapshot\"" },
    { "lifecycle/expiresAt", 'c', "YYY-", NULL },
    { "lifecycle/refresh", 'c', "YY--", NULL },
    { "lifecycle/staleSections", 'a', "YY--", NULL },
    { "lifecycle/staleSections/*", 't', "YU--", NULL },
    { "lifecycle/grantId", 't', "----", NULL },
    { "lifecycle/revocationUrl", 't', "----", NULL }
};

#define VIEW_ROWS  (sizeof(view_table) / sizeof(view_table[0]))


#endif /* _VIEW_TABLE_H_INCLUDED_ */
