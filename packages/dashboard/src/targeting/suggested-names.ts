// Suggestions for whoever writes a condition, from the rules and segments that there are.
import { namedSegments } from "@halyard/core/targeting/references";
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

/** The attributes that decide about a flag: those of its rules, and of the segments that they name. */
export const useAskedNames = (flagKey: string): readonly string[] => {
  const { byKey, segmentsByKey } = useLiveState();
  const flag = byKey.get(flagKey)?.flag;
  return useMemo(() => {
    if (flag === undefined) return [];
    const segments = namedSegments(flag).flatMap(({ key }) => segmentsByKey.get(key) ?? []);
    const { attributes } = collectNames({
      flags: [flag],
      segments: segments.map(({ segment }) => segment),
    });
    return attributes.filter((name) => name !== "targetingKey");
  }, [flag, segmentsByKey]);
};
