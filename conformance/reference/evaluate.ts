// A second evaluator of flags with targeting, written from the documents alone and as plainly as possible. It shares no code with
// packages/core: what both agree on is right, or the documents are wrong. Everything here is JSON, nothing is fast.
import { referenceHash } from "../../packages/core/test/support/reference.ts";
import { holds, type Json, type JsonObject, lookUp, type World } from "./conditions.ts";

export type Answer =
  | {
      readonly value: Json;
      readonly variant: string;
      readonly reason: string;
      readonly rule?: string;
    }
  | { readonly errorCode: string };

const variantsOf = (flag: JsonObject): JsonObject =>
  flag.type === "variant" ? (flag.variants as JsonObject) : { on: true, off: false };

/** Laid end to end in thousandths of a percent. Undefined when the hash is beyond them. */
const shareOf = (split: readonly JsonObject[], hash: number): string | undefined => {
  let end = 0n;
  for (const { variant, share } of split) {
    end += BigInt(Math.round((share as number) * 1_000));
    if (BigInt(hash) * 100_000n < end * (1n << 32n)) return variant as string;
  }
  return undefined;
};

export const referenceAnswer = (flag: JsonObject, context: JsonObject, world: World): Answer => {
  const variants = variantsOf(flag);
  const off = flag.type === "variant" ? (flag.off as string) : "off";
  const give = (variant: string, reason: string, rule?: string): Answer => ({
    value: variants[variant] ?? null,
    variant,
    reason,
    ...(rule !== undefined && { rule }),
  });
  if (flag.enabled !== true) return give(off, "DISABLED");
  for (const { flag: key, variant } of (flag.requires ?? []) as JsonObject[]) {
    const required = world.flags[key as string];
    const answer = required && referenceAnswer(required, context, world);
    if (!answer || "errorCode" in answer || answer.variant !== variant) {
      return give(off, "PREREQUISITE_FAILED");
    }
  }

  const by = flag.bucketBy as string | undefined;
  const found = lookUp(context, by ?? "targetingKey");
  const isNumber = by !== undefined && typeof found === "number" && Number.isSafeInteger(found);
  const bucketing = isNumber ? String(found) : found;
  const seed = (flag.bucketSeed ?? flag.key) as string;
  const split = (shares: readonly JsonObject[], rule?: string): Answer | undefined => {
    if (typeof bucketing !== "string" || bucketing === "")
      return { errorCode: "TARGETING_KEY_MISSING" };
    const variant = shareOf(shares, referenceHash(seed, bucketing));
    return variant === undefined ? undefined : give(variant, "SPLIT", rule);
  };

  for (const rule of (flag.rules ?? []) as JsonObject[]) {
    if (rule.disabled === true || holds(rule.when as JsonObject, context, world) !== true) continue;
    const id = rule.id as string;
    if (typeof rule.serve === "string") return give(rule.serve, "TARGETING_MATCH", id);
    const answer = split(rule.serve as readonly JsonObject[], id);
    if (answer) return answer;
  }

  const fixed = flag.rules === undefined ? "STATIC" : "DEFAULT";
  if (flag.type === "rollout") {
    const percentage = flag.percentage as number;
    if (percentage === 0) return give("off", fixed);
    if (percentage === 100) return give("on", fixed);
    return split([{ variant: "on", share: percentage }]) ?? give("off", "SPLIT");
  }
  const otherwise = flag.type === "boolean" ? (flag.otherwise ?? "on") : flag.otherwise;
  if (typeof otherwise === "string") return give(otherwise, fixed);
  return split(otherwise as readonly JsonObject[]) ?? give(off, "SPLIT");
};
