// flagd's JavaScript engine with a definition, and the contexts for which a flag's class promises the same result.
import { createRequire } from "node:module";
import type { JsonObject, World } from "../../../../conformance/reference/conditions.ts";
import type { FlagdFlag } from "../../src/flagd/index.ts";
import { readerOf } from "../../src/targeting/conditions/attribute.ts";

const require = createRequire(import.meta.url);
const { MemoryStorage } =
  require("@openfeature/flagd-core") as typeof import("@openfeature/flagd-core");

const silent = { error() {}, warn() {}, info() {}, debug() {} };

export interface FlagdAnswer {
  readonly value?: unknown;
  readonly variant?: string;
  readonly isError: boolean;
}

/** `interpreted`: without generated code, as on edge platforms. Throws if the definition does not conform to flagd's schema. */
export const flagdEngine = (definition: string, interpreted = false) => {
  const storage = new MemoryStorage(silent, { disableDynamicCodeGeneration: interpreted });
  storage.setConfigurations(definition, true);
  return {
    keys: [...storage.getFlags().keys()],
    ask(key: string, context: JsonObject): FlagdAnswer {
      const found = storage.getFlag(key)?.evaluate(context as never, silent);
      if (found === undefined || found.errorCode !== undefined) return { isError: true };
      return { value: found.value, variant: found.variant ?? "", isError: false };
    },
  };
};

const canonicalVersion = /^(0|[1-9]\d{0,8})(\.(0|[1-9]\d{0,8})){2}(-[0-9A-Za-z.-]+)?$/;

const isBucketingValue = (value: unknown): boolean => {
  if (typeof value === "string") return /^[ -~]*$/.test(value) && !value.endsWith(" ");
  return !Number.isSafeInteger(value) || Math.abs(value as number) < 10_000_000;
};

const isVersion = (value: unknown): boolean =>
  typeof value !== "string" || canonicalVersion.test(value);

interface Attributes {
  readonly split: ReadonlySet<string>;
  readonly version: ReadonlySet<string>;
  /** The path of the attribute's parent. */
  readonly parent: ReadonlySet<string>;
}

/** The attributes of all flags and segments of the world. */
const attributesOf = (world: World): Attributes => {
  const split = new Set(["targetingKey"]);
  const version = new Set<string>();
  const parent = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { bucketBy, attribute, op } = value as JsonObject;
    if (typeof bucketBy === "string") split.add(bucketBy);
    for (const each of [bucketBy, attribute]) {
      const steps = typeof each === "string" ? each.split("/") : [];
      for (let end = 2; end < steps.length; end += 1) parent.add(steps.slice(0, end).join("/"));
    }
    const isVersioned = typeof op === "string" && op.startsWith("semver");
    if (isVersioned && typeof attribute === "string") version.add(attribute);
    for (const each of Object.values(value)) walk(each);
  };
  walk(world);
  return { split, version, parent };
};

const isParent = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === "object" && !Array.isArray(value));

/** Whether the flag's class promises the same result for the context. */
export const promises = (world: World) => {
  const { split, version, parent } = attributesOf(world);
  const read = (names: ReadonlySet<string>) => [...names].map(readerOf);
  const [splits, versions, parents] = [read(split), read(version), read(parent)];
  return ({ class: found, reasons }: FlagdFlag, context: JsonObject): boolean => {
    if (found !== "ascii") return found === "exact";
    const says = (part: string) => reasons.some((reason) => reason.includes(part));
    if (says("A split") && !splits.every((of) => isBucketingValue(of(context)))) return false;
    if (says("lies in an object") && !parents.every((of) => isParent(of(context)))) return false;
    return !says("canonical versions") || versions.every((of) => isVersion(of(context)));
  };
};
