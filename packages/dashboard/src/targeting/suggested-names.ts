// Suggestions for whoever writes a condition, from the rules and segments that there are.
import { useMemo } from "react";
import { useLiveState } from "../live-provider.tsx";
import { collectNames, type SuggestedNames } from "./collect-names.ts";

export const useSuggestedNames = (): SuggestedNames => {
  const { flags, segments } = useLiveState();
  return useMemo(
    () =>
      collectNames({
        flags: flags.map(({ flag }) => flag),
        segments: segments.map(({ segment }) => segment),
      }),
    [flags, segments],
  );
};
