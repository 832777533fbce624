// Where flagd finds an attribute of a context, if it finds it in every engine.
import { pointerSteps } from "../targeting/conditions/attribute.ts";
import type { Findings } from "./findings.ts";
import type { Logic } from "./logic.ts";

/** Dots separate, and some engines give slashes and backslashes a meaning. */
const plainName = /^[^./\\~\p{Cc}\p{Cs}]+$/u;

/** What an engine in JavaScript or Python finds although nobody put it there; flagd's own. */
const isTaken = (name: string): boolean =>
  name in Object.prototype || name === "length" || name === "$flagd";

const quoted = (text: string): string => JSON.stringify(text);

/** Whatever it is when the findings leave the flag out. */
export const variableOf = (attribute: string, findings: Findings): Logic => {
  const steps = pointerSteps(attribute) ?? [attribute];
  const isDeep = steps.length > 1;
  for (const step of steps) {
    if (!plainName.test(step) || isTaken(step)) {
      findings.leaveOut(
        `The attribute ${quoted(attribute)} has a name that flagd engines read in different ways.`,
      );
    }
    if (isDeep && /^\d+$/.test(step)) {
      findings.leaveOut(
        `The attribute ${quoted(attribute)} is an element of a list: some engines find characters of a text there.`,
      );
    }
  }
  if (isDeep) {
    findings.limit(
      `The attribute ${quoted(attribute)} lies in an object: engines differ where something else is there instead.`,
    );
  }
  return { var: steps.join(".") };
};

/** The attribute at a place of a list; null when the list is shorter. */
export const elementOf = (variable: Logic, index: number): Logic => ({
  var: `${(variable as { readonly var: string }).var}.${index}`,
});
