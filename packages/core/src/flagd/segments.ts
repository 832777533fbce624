// Segments in JsonLogic, each compiled once for all flags that name it.
import type { Segment } from "../targeting/segment.ts";
import { allOf, anyOf, type Both, compileCondition, opposite, unknown } from "./conditions.ts";
import { type Collected, collectFindings, type Findings, repeatFindings } from "./findings.ts";
import { and, differ, isText, type Logic, not } from "./logic.ts";

const maxMembers = 100;
const targetingKey: Logic = { var: "targetingKey" };

interface Compiled {
  readonly both: Both;
  readonly findings: Collected;
}

const inList = (members: readonly string[]): Both => {
  if (members.length === 0) return { whenTrue: false, whenFalse: true };
  const isIn: Logic = { in: [targetingKey, members] };
  return {
    whenTrue: and(isText(targetingKey), isIn),
    whenFalse: and(isText(targetingKey), differ(targetingKey, ""), not(isIn)),
  };
};

const compile = ({ key, include, exclude, when }: Segment): Compiled => {
  const findings = collectFindings();
  const of = `The segment ${key}`;
  if (include.length + exclude.length > maxMembers) {
    findings.leaveOut(`${of} lists more than ${maxMembers} targeting keys.`);
  }
  if (![...include, ...exclude].every((member) => member.isWellFormed())) {
    findings.leaveOut(`${of} lists a targeting key that is not well-formed.`);
  }
  if (findings.leftOut.size > 0) return { both: unknown, findings };
  const within: Findings = {
    leaveOut: (reason) => findings.leaveOut(`${of}: ${reason}`),
    limit: (reason) => findings.limit(`${of}: ${reason}`),
  };
  const never: Both = { whenTrue: false, whenFalse: true };
  // Checked when it was saved: a segment names no other.
  const matched = when === null ? never : compileCondition(when, () => unknown, within);
  const both = allOf([opposite(inList(exclude)), anyOf([inList(include), matched])]);
  return { both: findings.leftOut.size > 0 ? unknown : both, findings };
};

/** Some engines put evaluators into the definition with a replacement in which these have a meaning. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text) && !/[\\$]/.test(text);

export interface Segments {
  readonly test: (key: string, findings: Findings) => Both;
  /** What the flags refer to, by name. */
  readonly evaluators: ReadonlyMap<string, Logic>;
}

export const compileSegments = (segments: readonly Segment[]): Segments => {
  const byKey = new Map(segments.map((segment) => [segment.key, segment]));
  const compiled = new Map<string, Compiled>();
  const evaluators = new Map<string, Logic>();
  const shared = (logic: Logic, name: string): Logic => {
    if (typeof logic === "boolean" || !isPlain(JSON.stringify(logic))) return logic;
    // Some engines look for the name with a regular expression.
    const plain = name.replaceAll(".", "%2E");
    evaluators.set(plain, logic);
    return { $ref: plain };
  };
  const of = (segment: Segment): Compiled => {
    const known = compiled.get(segment.key);
    if (known !== undefined) return known;
    const { both, findings } = compile(segment);
    const made = {
      both: {
        whenTrue: shared(both.whenTrue, `in ${segment.key}`),
        whenFalse: shared(both.whenFalse, `not in ${segment.key}`),
      },
      findings,
    };
    compiled.set(segment.key, made);
    return made;
  };
  return {
    evaluators,
    test(key, findings) {
      const segment = byKey.get(key);
      if (segment === undefined) return unknown;
      const { both, findings: found } = of(segment);
      repeatFindings(found, findings);
      return both;
    },
  };
};
