// How often every flag is evaluated and who changed it last, refetched at an interval and after changes.
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { valueOrThrow } from "../../api.ts";
import { useLive } from "../../live-provider.tsx";
import { useApi } from "../../session.tsx";

const monthInHours = 720;
const usageEvery = 60_000;
/** Changes within this time cause one refetch. */
const collectFor = 300;
/** However fast flags change, the server spends at most a tenth of its time on this page. */
const pausePerWork = 9;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Not before the flags are there: on a slow line it would delay them. */
export const useUsage = (enabled: boolean) => {
  const { management, environment } = useApi();
  const live = useLive();
  const query = useQuery({
    queryKey: [environment.name, "usage"],
    queryFn: async () => {
      const usage = valueOrThrow(await management.usage({ hours: monthInHours }));
      return new Map(usage.map((each) => [each.key, each]));
    },
    refetchInterval: usageEvery,
    staleTime: usageEvery / 2,
    enabled,
  });
  const { refetch } = query;
  useEffect(() => {
    if (!enabled) return;
    let isMounted = true;
    let isOutdated = false;
    let isRunning = false;
    /** One refetch at a time: none is cancelled by the next change, so the page never falls behind. */
    const update = async () => {
      isRunning = true;
      while (isOutdated && isMounted) {
        await pause(collectFor);
        isOutdated = false;
        const began = performance.now();
        await refetch();
        await pause((performance.now() - began) * pausePerWork);
      }
      isRunning = false;
    };
    const unsubscribe = live.onChange(() => {
      isOutdated = true;
      if (!isRunning) void update();
    });
    return () => {
      isMounted = false;
      unsubscribe();
    };
  }, [enabled, live, refetch]);
  return query;
};
