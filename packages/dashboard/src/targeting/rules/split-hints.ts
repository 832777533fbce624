// A person has one bucket for the whole flag: a split reaches nobody whom an earlier split of the same size has missed.
import { thousandthsOf } from "@halyard/core/percentage";
import { formatPercent } from "../../format.ts";
import { isServe, sharesOf, sumOf } from "../split/shares.ts";
import type { DraftRule } from "./targeting-draft.ts";

const everyone = 100_000;

/** How far the shares reach, in thousandths of a percent; undefined of a rule that serves one variant to all. */
const reachOf = ({ serve, disabled }: DraftRule): number | undefined => {
  if (!isServe(serve) || typeof serve === "string" || disabled === true) return undefined;
  return thousandthsOf(sumOf(sharesOf(serve)));
};

const percent = (thousandths: number): string => formatPercent(thousandths / 1_000);

const hintFor = (
  reach: number,
  earlier: { readonly name: string; readonly reach: number },
): string => {
  const { name } = earlier;
  const why = `a person has one bucket for the whole flag, and rule ${name} has had the first ${percent(earlier.reach)}`;
  if (reach > earlier.reach) {
    return `Of those whom rule ${name} matches but does not reach, this reaches only ${percent(reach - earlier.reach)} of everyone: ${why}.`;
  }
  const wanted = reach + earlier.reach;
  const instead =
    wanted <= everyone ? ` To reach another ${percent(reach)}, make it ${percent(wanted)}.` : "";
  return `This reaches nobody whom rule ${name} matches but does not reach: ${why}.${instead}`;
};

/** For each rule, and last for everyone else, undefined when there is nothing to say. `percentage` is that of a rollout. */
export const splitHints = (
  rules: readonly DraftRule[],
  percentage?: number,
): readonly (string | undefined)[] => {
  let earlier: { readonly name: string; readonly reach: number } | undefined;
  const hints = rules.map((rule, index) => {
    const reach = reachOf(rule);
    if (reach === undefined || reach === 0) return undefined;
    const hint = earlier && reach < everyone ? hintFor(reach, earlier) : undefined;
    if (reach < everyone && reach > (earlier?.reach ?? 0)) {
      earlier = { name: rule.id ?? String(index + 1), reach };
    }
    return hint;
  });
  const rest = percentage === undefined ? 0 : thousandthsOf(percentage);
  const last = earlier && rest > 0 && rest < everyone ? hintFor(rest, earlier) : undefined;
  return [...hints, last];
};
