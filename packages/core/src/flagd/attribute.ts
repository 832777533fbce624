// Where flagd finds an attribute of a context, and whether every engine finds it there.
import { pointerSteps } from "../targeting/conditions/attribute.ts";
import type { Findings } from "./findings.ts";
import type { Logic } from "./logic.ts";

/** Dots separate path steps, and slashes and backslashes have a meaning in some engines. */
const plainName = /^[^./\\~\p{Cc}\p{Cs}]+$/u;

/** Names that engines in JavaScript or Python find on every object, and flagd's own. */
const isTaken = (name: string): boolean =>
  name in Object.prototype || name === "length" || name === "$flagd";

const quoted = (text: string): string => JSON.stringify(text);

/** A placeholder: the findings leave the flag out, so its expression is never used. */
export const variableOf = (attribute: string, findings: Findings): Logic => {
  const steps = pointerSteps(attribute) ?? [attribute];
  const isDeep = steps.length > 1;
  for (const step of steps) {
    if (!plainName.test(step) || isTaken(step)) {
      findings.leaveOut(
        `The attribute ${quoted(attribute)} has a name that flagd engines read differently.`,
      );
    }
    if (isDeep && /^\d+$/.test(step)) {
      findings.leaveOut(
        `The attribute ${quoted(attribute)} is an element of a list: some engines return a character if the value is a string.`,
      );
    }
  }
  if (isDeep) {
    findings.limit(
      `The attribute ${quoted(attribute)} is inside an object: engines differ if the outer value is not an object.`,
    );
  }
  return { var: steps.join(".") };
};

/** An element of the list that a variable holds; null if the list is shorter. */
export const elementOf = (variable: Logic, index: number): Logic => ({
  var: `${(variable as { readonly var: string }).var}.${index}`,
});
