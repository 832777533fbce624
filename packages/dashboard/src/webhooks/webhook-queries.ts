// Queries of webhooks, their health and their latest deliveries, refetched every few seconds.
import type { WebhookHealth } from "@halyard/sdk/management";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { valueOrThrow } from "../api.ts";
import { useApi } from "../session.tsx";

const refetchEvery = 4_000;
/** As many as the chart has columns. */
const latestCount = 60;

export const useWebhooks = () => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "webhooks"],
    queryFn: async () => valueOrThrow(await management.webhooks.list()),
    refetchInterval: refetchEvery,
  });
};

export const useWebhook = (id: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "webhooks", id],
    queryFn: async () => valueOrThrow(await management.webhooks.get(id)),
    refetchInterval: refetchEvery,
  });
};

/** Newest first, in every state. */
export const useLatestDeliveries = (id: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", id, "latest"],
    queryFn: async () =>
      valueOrThrow(await management.webhooks.deliveries(id, { limit: latestCount })),
    refetchInterval: refetchEvery,
  });
};

const healthKey = (environment: string) => [environment, "deliveries", "health"];

/** Of every webhook. */
export const useHealth = (every = refetchEvery) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: healthKey(environment.name),
    queryFn: async () => valueOrThrow(await management.webhooks.health()),
    refetchInterval: every,
  });
};

/** Of one, with what holds back what. */
export const useHealthOf = (id: string) => {
  const { management, environment } = useApi();
  const queries = useQueryClient();
  return useQuery({
    queryKey: [environment.name, "deliveries", id, "health"],
    queryFn: async () => {
      const health = valueOrThrow(await management.webhooks.healthOf(id));
      // The navigation, which asks less often, must not contradict the page.
      queries.setQueryData<WebhookHealth[]>(healthKey(environment.name), (all) =>
        all?.map((each) => (each.webhookId === id ? health : each)),
      );
      return health;
    },
    refetchInterval: refetchEvery,
  });
};

/** The last replay of a webhook; null when it has had none. */
export const useReplay = (id: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "deliveries", id, "replay"],
    queryFn: async () => {
      const found = await management.webhooks.replayProgress(id);
      return !found.ok && found.error.code === "NOT_FOUND" ? null : valueOrThrow(found);
    },
    refetchInterval: ({ state: { data } }) =>
      data != null && (data.state === "running" || data.pending > 0) ? refetchEvery : false,
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
