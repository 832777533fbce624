// What a flag type has to say about itself. Everything else asks the registry.
import type { PreparedFlag } from "../evaluate.ts";
import type { Choice } from "../targeting/decision.ts";
import type { ValidationErrors } from "../targeting/mistakes.ts";
import type { Targeting } from "../targeting/targeting.ts";

/** The members that every flag has or may have. */
export interface FlagBase extends Targeting {
  readonly key: string;
  readonly type: string;
  readonly enabled: boolean;
  /** Null when there is none. */
  readonly description: string | null;
}

/** A JSON Schema. `x-must-be` completes the sentence "<field> must be …". */
export interface Schema {
  readonly description?: string;
  readonly "x-must-be"?: string;
  /** What the reference shows, of a member that is checked as part of the whole flag. */
  readonly "x-schema"?: Schema;
  readonly [keyword: string]: unknown;
}

/** A member that a type adds to the common ones. */
export interface Member<Value> {
  readonly schema: Schema;
  /** In a new flag that does not set it; undefined when there is no such value. */
  readonly initial: Value | undefined;
  /** Absent unless it is set; `null` takes it away. The others are always there. */
  readonly isOptional?: true;
  /** It is needed with this member, and goes with it. */
  readonly onlyWith?: string;
  /** It never changes. */
  readonly isFixed?: true;
  /** What the schema cannot express: whether the value is exactly as the schema's `x-must-be` says. */
  readonly isValid: (value: unknown) => value is Value;
  /** The one form of equal values. */
  readonly normalize: (value: Value) => Value;
  /** For people, such as `25 %`; `formatNumber` knows the reader's locale. */
  readonly format: (value: Value, formatNumber: (value: number) => string) => string;
}

export type MemberName<F extends FlagBase> = Exclude<keyof F, keyof FlagBase> & string;

export interface FlagType<F extends FlagBase> {
  readonly name: F["type"];
  /** Follows the name in a sentence: "`boolean` is on or off for everyone". */
  readonly summary: string;
  readonly members: { readonly [Name in MemberName<F>]-?: Member<NonNullable<F[Name]>> };
  /** Why the members of other types do not apply. */
  readonly refusal: string;
  /** What an SDK or server must understand to evaluate a flag of this type without targeting; see `isKnownLevel`. */
  readonly level: number;
  readonly choice: (flag: F) => Choice;
  /** What the members mean together. */
  readonly check?: (flag: F, errors: ValidationErrors) => void;
  /** A faster form for flags without targeting. */
  readonly prepare?: (flag: F) => PreparedFlag;
  /** How many of 100,000 users get it while it is on, whatever its rules say. */
  readonly reach: (flag: F) => number;
}
