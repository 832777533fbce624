// Files of other products with targeting, and their conversion.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EvaluationContext } from "@halyard/core/context";
import { type EvaluatedFlag, evaluate, type PreparedFlag } from "@halyard/core/evaluate";
import { prepare } from "@halyard/core/flags/registry";
import { compileSegment, stateOf } from "@halyard/core/targeting/segment";
import { readDocument } from "../../src/flags-file/document.ts";
import {
  type Converted,
  type ConvertOptions,
  convert,
} from "../../src/flags-file/importers/convert.ts";
import type { Product } from "../../src/flags-file/importers/importers.ts";
import { readProduct } from "../../src/flags-file/importers/read-product.ts";

export const folder = join(import.meta.dirname, "..", "fixtures", "products");
export const readJson = (...names: string[]): unknown =>
  JSON.parse(readFileSync(join(folder, ...names), "utf8"));

/** The file, its product, and the environment to import. */
export const files: Readonly<
  Record<string, readonly [file: string, from: Product, environment?: string]>
> = {
  launchdarkly: ["launchdarkly.json", "launchdarkly", "production"],
  unleash: ["unleash.json", "unleash", "production"],
  flagsmith: ["flagsmith.json", "flagsmith"],
  flagd: ["flagd.yaml", "flagd"],
  "go-feature-flag": ["go-feature-flag.yaml", "go-feature-flag"],
  growthbook: ["growthbook.json", "growthbook"],
  "growthbook-api": ["growthbook-api.json", "growthbook", "production"],
  flipt: ["flipt.yaml", "flipt", "production"],
};

export const convertFile = async (
  name: string,
  options: ConvertOptions = {},
  other?: string,
): Promise<Converted & { readonly remarks: readonly string[] }> => {
  const [file, from, environment] = files[name] ?? ["", "flagd"];
  const { value } = await readDocument(join(folder, file));
  const reading = readProduct(from, { value, environment: other ?? environment });
  const { found, segments = [], remarks = [] } = reading;
  return { ...convert(found, segments, options), remarks };
};

/** Evaluates the flags of a file together, like a server. */
export const evaluator = ({ flags, segments }: Converted) => {
  const tests = new Map(segments.map((segment) => [segment.key, compileSegment(stateOf(segment))]));
  const prepared = new Map<string, PreparedFlag>();
  const environment = {
    segment: (key: string) => tests.get(key),
    flag: (key: string) => prepared.get(key),
  };
  for (const flag of flags) prepared.set(flag.key, prepare(flag, undefined, environment));
  return (key: string, context: EvaluationContext) => {
    const flag = prepared.get(key);
    assert.ok(flag, `${key} is imported`);
    return evaluate(flag, context) as EvaluatedFlag;
  };
};
