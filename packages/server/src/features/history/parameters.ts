// The query parameters of GET /history.

import { type Static, Type } from "typebox";
import { type Failure, invalidField } from "../../platform/errors.ts";
import { moment, momentRule, readMoment } from "../../platform/http/openapi/moment.ts";
import { closedObject, pageParameters } from "../../platform/http/openapi/schemas.ts";
import { stringEnum } from "../../platform/http/openapi/string-enum.ts";
import { historySubjects } from "../../writes/history-entry.ts";

const ignoresCase = "Upper and lower case are the same in every script; accents count.";

export const HistoryParameters = closedObject({
  ...pageParameters,
  subject: Type.Optional(
    stringEnum([...historySubjects], {
      description:
        "Only changes of flags, segments, webhooks, keys, what people may do, the environment itself, or change requests.",
      "x-must-be": `one of ${historySubjects.join(", ")}`,
    }),
  ),
  id: Type.Optional(
    Type.String({
      maxLength: 128,
      description: "Only changes of the one with this key or id; with `subject`.",
      "x-must-be": "a key or id, with subject",
    }),
  ),
  deleted: Type.Optional(
    stringEnum(["true"], {
      description:
        "Only deletions: of flags, segments and webhooks, revoked keys, and people who lost their access.",
      "x-must-be": "true",
    }),
  ),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "Only changes by the API key or the person with exactly this name or id; `who` finds parts of them.",
      "x-must-be": "the name or the id of an API key or a person",
    }),
  ),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: `Only changes with this text in the key or id of what was changed, in its name, title, address or description, or in the reason. Change requests are also found by the keys of what they change. ${ignoresCase}`,
      "x-must-be": "a text of 1 to 200 characters",
    }),
  ),
  who: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: `Only changes by a person or an API key with this text in the name or id. ${ignoresCase}`,
      "x-must-be": "a text of 1 to 256 characters",
    }),
  ),
  tag: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: `Only changes of flags that have a tag with this text now, or had one before or after the change. ${ignoresCase}`,
      "x-must-be": "a text of 1 to 64 characters",
    }),
  ),
  owner: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: `Only changes of flags that have an owner with this text now, or had one before or after the change. ${ignoresCase}`,
      "x-must-be": "a text of 1 to 128 characters",
    }),
  ),
  since: Type.Optional(moment("Only changes from this time on.")),
  until: Type.Optional(moment("Only changes up to this time.")),
});
export type HistoryParameters = Static<typeof HistoryParameters>;

/** Rules that a schema can't express. */
export const wrongParameters = (query: HistoryParameters): Failure | undefined => {
  if (query.id !== undefined && query.subject === undefined) {
    return invalidField("subject", "is required with id");
  }
  const ofFlags = (["tag", "owner"] as const).find((name) => query[name] !== undefined);
  if (ofFlags && query.subject !== undefined && query.subject !== "flag") {
    return invalidField(ofFlags, "selects flags: leave subject out, or set it to flag");
  }
  const wrong = (["since", "until"] as const).find((name) => {
    const text = query[name];
    return text !== undefined && readMoment(text) === undefined;
  });
  return wrong && invalidField(wrong, `must be ${momentRule}`);
};
