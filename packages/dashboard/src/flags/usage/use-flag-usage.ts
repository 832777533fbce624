// How often a flag was evaluated: one query for all parts of its page, so that they never disagree.
import type { FlagUsage } from "@halyard/sdk/management";
import { useQuery } from "@tanstack/react-query";
import { valueOrThrow } from "../../api.ts";
import { useApi } from "../../session.tsx";

export const dayInHours = 24;

/** `every` says when to ask again, in milliseconds. */
export const useFlagUsage = (
  flagKey: string,
  hours: number,
  every: (usage: FlagUsage | undefined) => number | false,
) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "flag", flagKey, "usage", hours],
    queryFn: async () => valueOrThrow(await management.flags.usage(flagKey, { hours })),
    refetchInterval: ({ state }) => every(state.data),
  });
};

/** Alone or with all other flags. */
export const lastEvaluation = ({
  lastEvaluatedAt,
  lastAskedTogetherAt,
}: FlagUsage): string | undefined =>
  [lastEvaluatedAt, lastAskedTogetherAt]
    .filter((at) => at !== null)
    .sort()
    .at(-1);
