// Return values of each product's SDK in cases where an import once differed. The comparison checks that they still hold.
import type { EvaluationContext } from "@halyard/core/context";
import type { Product } from "../../../../src/flags-file/importers/importers.ts";

export type Json = Record<string, unknown>;

export interface Case {
  readonly product: Product;
  readonly environment?: string;
  readonly what: string;
  readonly document: unknown;
  readonly flag: string;
  /** The import's note on the flag; undefined if it is imported whole. */
  readonly note?: string;
  /** The context of the SDK, that of Halyard, and what both return. */
  readonly people: readonly (readonly [theirs: unknown, ours: EvaluationContext, value: unknown])[];
}
