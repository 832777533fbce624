// The evaluations that fail: keys without a flag, and flags of another type than programs expect.
import type { EvaluationError } from "@halyard/sdk/management";
import { useQuery } from "@tanstack/react-query";
import { valueOrThrow } from "../../api.ts";
import { useLiveState } from "../../live-provider.tsx";
import { useApi } from "../../session.tsx";

export const shownDays = 7;
/** Clients report once a minute. */
const refetchEvery = 60_000;

/** Not before the flags are there: on a slow line it would delay them. */
export const useEvaluationErrors = () => {
  const { management, environment } = useApi();
  const { byKey, status, flags } = useLiveState();
  const query = useQuery({
    queryKey: [environment.name, "usage errors"],
    queryFn: async () => valueOrThrow(await management.usageErrors({ hours: shownDays * 24 })),
    refetchInterval: refetchEvery,
    staleTime: refetchEvery / 2,
    enabled: status === "live" || flags.length > 0,
  });
  // A flag that was created or deleted since then ends the error.
  const stillHolds = ({ key, errorCode }: EvaluationError): boolean =>
    byKey.has(key) === (errorCode === "TYPE_MISMATCH");
  return { ...query, errors: query.data?.filter(stillHolds) };
};
