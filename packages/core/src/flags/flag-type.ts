// What a flag type has to say about itself. Everything else asks the registry.
import type { PreparedFlag } from "../evaluate.ts";

/** The members that every flag has. */
export interface FlagBase {
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
  readonly [keyword: string]: unknown;
}

/** A member that a type adds to the common ones. */
export interface Member<Value> {
  readonly schema: Schema;
  /** In a new flag that does not set it. */
  readonly initial: Value;
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
  readonly members: { readonly [Name in MemberName<F>]: Member<F[Name]> };
  /** Why the members of other types do not apply. */
  readonly refusal: string;
  /** What an SDK or server must understand to evaluate the flag; see `knownLevel`. */
  readonly level: (flag: F) => number;
  readonly prepare: (flag: F) => PreparedFlag;
  /** How many of 100,000 users get it while it is on. */
  readonly reach: (flag: F) => number;
}
