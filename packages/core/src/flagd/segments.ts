// Translates segments to JsonLogic. Each is compiled once for all flags that reference it.
import type { Segment } from "../targeting/segment.ts";
import { compileCondition } from "./conditions.ts";
import { type Collected, collectFindings, type Findings, repeatFindings } from "./findings.ts";
import { and, differ, isText, type Logic, not, or } from "./logic.ts";
import type { Room } from "./room.ts";

const maxMembers = 100;
const targetingKey: Logic = { var: "targetingKey" };

interface Compiled {
  readonly logic: Logic;
  readonly findings: Collected;
}

/** Without a targeting key, membership of a non-empty list is unknown. */
const inList = (members: readonly string[], wanted: boolean): Logic => {
  if (members.length === 0) return !wanted;
  const isIn: Logic = { in: [targetingKey, members] };
  return wanted
    ? and(isText(targetingKey), isIn)
    : and(isText(targetingKey), differ(targetingKey, ""), not(isIn));
};

const compile = ({ key, include, exclude, when }: Segment, wanted: boolean): Compiled => {
  const findings = collectFindings();
  const of = `The segment ${key}`;
  if (include.length + exclude.length > maxMembers) {
    findings.leaveOut(`${of} lists more than ${maxMembers} targeting keys.`);
    return { logic: false, findings };
  }
  if (![...include, ...exclude].every((member) => member.isWellFormed())) {
    findings.leaveOut(`${of} lists a targeting key that is not well-formed.`);
  }
  const within: Findings = {
    leaveOut: (reason) => findings.leaveOut(`${of}: ${reason}`),
    limit: (reason) => findings.limit(`${of}: ${reason}`),
  };
  // A segment can't reference another segment.
  const matched = when === null ? !wanted : compileCondition(when, wanted, () => false, within);
  const logic = wanted
    ? and(inList(exclude, false), or(inList(include, true), matched))
    : or(inList(exclude, true), and(inList(include, false), matched));
  return { logic, findings };
};

/** Characters with a meaning in the replacement strings of some engines. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text) && !/[\\$]/.test(text);

export interface Segments {
  readonly logic: (key: string, wanted: boolean, findings: Findings) => Logic;
  /** The evaluators that flags reference, by name. */
  readonly evaluators: ReadonlyMap<string, Logic>;
}

export const compileSegments = (segments: readonly Segment[], room: Room): Segments => {
  const byKey = new Map(segments.map((segment) => [segment.key, segment]));
  const compiled = new Map<string, Compiled>();
  const evaluators = new Map<string, Logic>();
  const share = ({ logic, findings }: Compiled, name: string): Logic => {
    if (typeof logic === "boolean" || findings.leftOut.size > 0) return logic;
    if (!isPlain(JSON.stringify(logic))) return logic;
    evaluators.set(name, logic);
    return { $ref: name };
  };
  return {
    evaluators,
    logic(key, wanted, findings) {
      const segment = byKey.get(key);
      if (segment === undefined) return false;
      // Some engines search for the name with a regular expression, in which a dot matches any character.
      const name = `${wanted ? "in" : "not in"} ${key.replaceAll(".", "%2E")}`;
      let made = compiled.get(name);
      if (made === undefined) {
        const once = compile(segment, wanted);
        made = { logic: share(once, name), findings: once.findings };
        compiled.set(name, made);
      }
      repeatFindings(made.findings, findings);
      const { logic } = made;
      return typeof logic === "object" && logic !== null && !room.take(logic, findings)
        ? false
        : logic;
    },
  };
};
