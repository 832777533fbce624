// Creates the segments of a file, and returns their membership tests.

import { maxDescriptionLength } from "@halyard/core/flags/rules";
import { checkSegment, maxMembers } from "@halyard/core/targeting/check-segment";
import { collectErrors } from "@halyard/core/targeting/mistakes";
import type { Segment } from "@halyard/core/targeting/segment";
import { equals, everyone, exists, targetingKey } from "./leaves.ts";
import {
  allOf,
  always,
  anyOf,
  CannotTranslate,
  impossible,
  never,
  opposite,
  type Test,
} from "./logic.ts";
import { freeKey, suggestKey } from "./names.ts";

interface NewSegment {
  /** Applications don't use segment names, so the key can differ. */
  readonly name: string;
  readonly description?: string | undefined;
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly when: Test;
}

export interface SegmentBook {
  readonly found: Segment[];
  /** Remarks about segments that could not be created. */
  readonly remarks: string[];
  readonly add: (segment: NewSegment) => Test;
  /** Tests for one of these targeting keys: a condition, or for a long list a segment with this name. */
  readonly people: (name: string, keys: readonly string[]) => Test;
  /** For segments that can't be created. */
  readonly refuse: (name: string, why: string) => Test;
}

const longestList = 1_000;

/** The membership test of a segment. Its negation uses the segment's own content, because `not` of unknown is unknown. */
const outside = (key: string, { include = [], exclude = [], when }: NewSegment): Test => {
  const inSegment = { segment: [key] };
  const hasLists = include.length + exclude.length > 0;
  return {
    ...when,
    yes: () => inSegment,
    no() {
      if (!hasLists) return when.no();
      // A context without a targeting key is in no list.
      if (when.yes() === false) return anyOf([exists(targetingKey, false), { not: inSegment }]);
      if (include.length > longestList || exclude.length > longestList) {
        throw new CannotTranslate(`excludes members of the segment ${key}, which has long lists`);
      }
      return anyOf([
        equals(targetingKey, exclude).yes(),
        allOf([opposite(equals(targetingKey, include)).yes(), when.no()]),
      ]);
    },
  };
};

export const createSegmentBook = (): SegmentBook => {
  const found: Segment[] = [];
  const remarks: string[] = [];
  const refuse = (name: string, why: string): Test => {
    remarks.push(`The segment "${name}" is not imported, because it ${why}.`);
    return impossible(`uses the segment "${name}", which ${why}`);
  };
  const book: SegmentBook = {
    found,
    remarks,
    refuse,
    people: (name, keys) =>
      keys.length > longestList
        ? book.add({ name, include: keys, when: never })
        : equals(targetingKey, keys),
    add(segment) {
      const { name, description, include = [], exclude = [] } = segment;
      const taken = new Set(found.map(({ key }) => key));
      const key = freeKey(suggestKey(name, "segment"), taken);
      let when: Segment["when"] | boolean;
      try {
        when = segment.when.yes();
      } catch (error) {
        if (error instanceof CannotTranslate) return refuse(name, error.message);
        throw error;
      }
      if (when === true && exclude.length === 0) return { ...segment.when, ...always };
      if (when === false && include.length === 0) return { ...segment.when, ...never };
      const about = description ?? (name === key ? undefined : name);
      const made: Segment = {
        key,
        description:
          about === undefined ? null : Array.from(about).slice(0, maxDescriptionLength).join(""),
        include: [...new Set(include)],
        exclude: [...new Set(exclude)],
        when: when === true ? everyone : when === false ? null : when,
      };
      const errors = collectErrors();
      checkSegment({ ...made }, errors, true);
      if (include.length + exclude.length > maxMembers) {
        errors.add("include", `must have at most ${maxMembers} members`);
      }
      const [mistake] = errors.found;
      if (mistake !== undefined) {
        return refuse(name, `exceeds Halyard's limits (${mistake.place} ${mistake.message})`);
      }
      found.push(made);
      return outside(key, segment);
    },
  };
  return book;
};
