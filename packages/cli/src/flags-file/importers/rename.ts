// Gives variants valid names in a flag and in flags that require it.
import type { Serve } from "@halyard/core/targeting/targeting";
import { keysFor } from "./translate/names.ts";
import type { Draft } from "./translate/outline.ts";

/** The names of the flag's variants. */
export const variantNames = ({ type, variants = {} }: Draft): readonly string[] =>
  type === "variant" ? Object.keys(variants) : ["on", "off"];

/** The variant while the flag is off. */
export const offOf = ({ off = "off" }: Draft): string => off;

type Rename = (variant: string) => string;

const renamer = (draft: Draft | undefined): Rename => {
  const names = draft === undefined ? [] : variantNames(draft);
  const keys = new Map(keysFor(names, "variant").map((key, index) => [names[index], key]));
  return (variant) => keys.get(variant) ?? variant;
};

const renameServe = (serve: Serve, rename: Rename): Serve =>
  typeof serve === "string"
    ? rename(serve)
    : serve.map(({ variant, share }) => ({ variant: rename(variant), share }));

export const renameVariants = (
  draft: Draft,
  drafts: ReadonlyMap<string, Draft>,
  keyFor: (name: string) => string,
): Draft => {
  const rename = renamer(draft);
  const { variants, off, otherwise, rules, requires } = draft;
  return {
    ...draft,
    ...(variants && {
      variants: Object.fromEntries(
        Object.entries(variants).map(([name, value]) => [rename(name), value]),
      ),
    }),
    ...(off !== undefined && { off: rename(off) }),
    ...(otherwise !== undefined &&
      otherwise !== null && {
        otherwise: renameServe(otherwise, rename) as NonNullable<Draft["otherwise"]>,
      }),
    ...(rules && {
      rules: rules.map((rule) => ({ ...rule, serve: renameServe(rule.serve, rename) })),
    }),
    ...(requires && {
      requires: requires.map(({ flag, variant }) => ({
        flag: keyFor(flag),
        variant: renamer(drafts.get(flag))(variant),
      })),
    }),
  };
};
