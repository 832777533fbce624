// The definition of a flag type. All other code uses the registry.
import type { PreparedFlag } from "../evaluate.ts";
import type { Choice } from "../targeting/decision.ts";
import type { ValidationErrors } from "../targeting/mistakes.ts";
import type { Targeting } from "../targeting/targeting.ts";

/** The fields that every flag has or can have. */
export interface FlagBase extends Targeting {
  readonly key: string;
  readonly type: string;
  readonly enabled: boolean;
  /** Null if there is none. */
  readonly description: string | null;
}

/** JSON Schema of the field. `x-must-be` completes the sentence "<field> must be …". */
export interface Schema {
  readonly description?: string;
  readonly "x-must-be"?: string;
  /** The schema for the API reference, if the field is checked as part of the whole flag. */
  readonly "x-schema"?: Schema;
  readonly [keyword: string]: unknown;
}

/** A field that a type adds to the common ones. */
export interface Member<Value> {
  readonly schema: Schema;
  /** The value in a new flag that does not set it; undefined if there is no such value. */
  readonly initial: Value | undefined;
  /** Absent unless it is set; `null` removes it. Other fields are always present. */
  readonly isOptional?: true;
  /** Required together with this field, and allowed only with it. */
  readonly onlyWith?: string;
  /** Can't be changed after creation. */
  readonly isFixed?: true;
  /** Checks what the schema can't express: whether the value matches `x-must-be`. */
  readonly isValid: (value: unknown) => value is Value;
  /** The canonical form of equal values. */
  readonly normalize: (value: Value) => Value;
  /** For display, such as `25%`; `formatNumber` uses the reader's locale. */
  readonly format: (value: Value, formatNumber: (value: number) => string) => string;
}

export type MemberName<F extends FlagBase> = Exclude<keyof F, keyof FlagBase> & string;

export interface FlagType<F extends FlagBase> {
  readonly name: F["type"];
  /** Follows the name in a sentence: "`boolean` is on or off for everyone". */
  readonly summary: string;
  readonly members: { readonly [Name in MemberName<F>]-?: Member<NonNullable<F[Name]>> };
  /** Why the fields of other types do not apply. */
  readonly refusal: string;
  /** The level that an SDK or server needs to evaluate a flag of this type without targeting; see `isKnownLevel`. */
  readonly level: number;
  readonly choice: (flag: F) => Choice;
  /** Checks the fields in relation to each other. */
  readonly check?: (flag: F, errors: ValidationErrors) => void;
  /** A faster form for flags without targeting. */
  readonly prepare?: (flag: F) => PreparedFlag;
  /** The number of users out of 100,000 that get the flag while it is on, ignoring its rules. */
  readonly reach: (flag: F) => number;
}
