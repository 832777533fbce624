// The operations of a change as models write them: those of the API, with descriptions.
import { flagKeyPattern, flagKeyRule } from "@halyard/core/flags/rules";
import { operatorNames } from "@halyard/core/targeting/conditions/operators";
import { z } from "zod";

export const key = (what: string) =>
  z.string().regex(new RegExp(flagKeyPattern), `must be ${flagKeyRule}`).describe(what);

const operation = z.strictObject({
  kind: z.enum(["flag", "segment"]),
  action: z
    .enum(["create", "patch", "delete", "members"])
    .describe("`members` adds to and removes from the lists of a segment"),
  key: key("The key of the flag or segment"),
  body: z
    .record(z.string(), z.unknown())
    .default({})
    .describe(
      [
        "patch: only the fields that change. A field replaces the existing one, so send all rules. null removes a field.",
        'Any flag: {"enabled": true, "description": "…", "tags": ["…"], "owner": "…", "rules": [{"id": "pro", "when": {"attribute": "plan", "op": "in", "values": ["pro"]}, "serve": "on"}], "requires": [{"flag": "other", "variant": "on"}]}.',
        'Boolean flag with rules: also {"otherwise": "off"}. Rollout flag: also {"percentage": 25}. Variant flag: also {"variants": {"a": "one", "b": "two"}, "off": "a", "otherwise": [{"variant": "b", "share": 10}, {"variant": "a", "share": 90}]}.',
        `A condition is {"attribute", "op", "value" or "values"}, {"segment": ["key"]}, {"all": […]}, {"any": […]} or {"not": …}; op is one of ${operatorNames.join(", ")}.`,
        'create, a flag: {"type": "boolean" | "rollout" | "variant", …}, a variant flag with "valueType": "string" | "number" | "object"; it is off until a patch turns it on. A segment: {"description", "when"}.',
        'members: {"include": {"add": ["user-1"], "remove": []}, "exclude": {…}}. delete: no body.',
      ].join("\n"),
    ),
});

export type Operation = z.output<typeof operation>;

export const operations = z
  .array(operation)
  .min(1)
  .max(20)
  .describe(
    "Patches of up to 20 flags, applied together or not at all; or one operation of any other kind",
  );
