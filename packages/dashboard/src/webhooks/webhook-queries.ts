// What the server knows of webhooks, read again every few seconds while somebody looks.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { valueOrThrow } from "../api.ts";
import { useApi } from "../session.tsx";

const readEvery = 4_000;
/** Enough to tell how a receiver does. */
export const latestCount = 60;

export const useWebhooks = () => {
  const { management, environment, mayChange } = useApi();
  return useQuery({
    queryKey: [environment.name, "webhooks"],
    queryFn: async () => valueOrThrow(await management.webhooks.list()),
    refetchInterval: readEvery,
    enabled: mayChange,
  });
};

export const useWebhook = (id: string) => {
  const { management, environment, mayChange } = useApi();
  return useQuery({
    queryKey: [environment.name, "webhooks", id],
    queryFn: async () => valueOrThrow(await management.webhooks.get(id)),
    refetchInterval: readEvery,
    enabled: mayChange,
  });
};

/** Newest first, whatever became of them; `beside` so many other webhooks, less often. */
export const useLatestDeliveries = (id: string, beside = 0) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", id, "latest"],
    queryFn: async () =>
      valueOrThrow(await management.webhooks.deliveries(id, { limit: latestCount })),
    refetchInterval: Math.max(readEvery, beside * 1_000),
  });
};

/** To be called after a change of our own. */
export const useReadWebhooksAgain = (): (() => void) => {
  const queries = useQueryClient();
  const { name } = useApi().environment;
  return useCallback(() => {
    for (const what of ["webhooks", "deliveries", "history"]) {
      void queries.invalidateQueries({ queryKey: [name, what] });
    }
  }, [queries, name]);
};
