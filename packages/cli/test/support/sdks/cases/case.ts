// A return value of a product's SDK for a flag that the import once converted differently.
import type { EvaluationContext } from "@halyard/core/context";
import type { Product } from "../../../../src/flags-file/importers/importers.ts";

export type Json = Record<string, unknown>;

export interface Case {
  readonly product: Product;
  readonly environment?: string;
  readonly what: string;
  readonly document: unknown;
  readonly flag: string;
  /** The import's note on the flag; undefined if the flag is imported whole. */
  readonly note?: string;
  /** The context for the SDK, the context for Halyard, and the value that both return. */
  readonly people: readonly (readonly [theirs: unknown, ours: EvaluationContext, value: unknown])[];
}
