// Queries of webhooks and their latest deliveries, refetched every few seconds.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { valueOrThrow } from "../api.ts";
import { useApi } from "../session.tsx";

const refetchEvery = 4_000;
/** Enough to judge the health of a webhook. */
export const latestCount = 60;

export const useWebhooks = () => {
  const { management, environment, mayChange } = useApi();
  return useQuery({
    queryKey: [environment.name, "webhooks"],
    queryFn: async () => valueOrThrow(await management.webhooks.list()),
    refetchInterval: refetchEvery,
    enabled: mayChange,
  });
};

export const useWebhook = (id: string) => {
  const { management, environment, mayChange } = useApi();
  return useQuery({
    queryKey: [environment.name, "webhooks", id],
    queryFn: async () => valueOrThrow(await management.webhooks.get(id)),
    refetchInterval: refetchEvery,
    enabled: mayChange,
  });
};

/** Newest first, in every state. Refetched less often when the page shows many `others`. */
export const useLatestDeliveries = (id: string, others = 0) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", id, "latest"],
    queryFn: async () =>
      valueOrThrow(await management.webhooks.deliveries(id, { limit: latestCount })),
    refetchInterval: Math.max(refetchEvery, others * 1_000),
  });
};

/** Call it after a change. */
export const useRefetchWebhooks = (): (() => void) => {
  const queries = useQueryClient();
  const { name } = useApi().environment;
  return useCallback(() => {
    for (const what of ["webhooks", "deliveries", "history"]) {
      void queries.invalidateQueries({ queryKey: [name, what] });
    }
  }, [queries, name]);
};
