// The difference between two versions of a flag in a dialog; loaded then, since few changes need it.
import { isSameValue } from "@halyard/core/difference";
import type { Flag } from "@halyard/core/flags/registry";
import { lazy, Suspense } from "react";
import { loadOrReload } from "../../pages/load-page.tsx";

const FlagDiff = lazy(async () => {
  const loaded = await loadOrReload(() => import("./flag-diff.tsx"));
  return { default: loaded.FlagDiff };
});

interface DifferenceProps {
  readonly before: Flag;
  readonly after: Flag;
}

export const Difference = (props: DifferenceProps) => (
  <Suspense fallback={null}>
    <FlagDiff {...props} />
  </Suspense>
);

/** Whether a sentence about the flag's setting says all of a change. */
export const isSameTargeting = (one: Flag, other: Flag): boolean =>
  isSameValue([one.rules, one.requires], [other.rules, other.requires]);
