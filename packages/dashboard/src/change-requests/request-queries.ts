// Reads change requests, again and again while the page is visible: the stream tells of flags and segments alone.
import { useQuery } from "@tanstack/react-query";
import { valueOrThrow } from "../api.ts";
import { usePages } from "../components/feedback/use-pages.ts";
import { useApi } from "../session.tsx";
import type { RequestState } from "./change-request.ts";

/** What is looked at changes while others discuss it; the number in the navigation may be a little late. */
const readEvery = 3_000;
export const countEvery = 15_000;
const pageSize = 50;
const mostOpen = 100;

export const keyOfRequests = (environment: string) => [environment, "change-requests"] as const;

/** Those that wait for an approval, the same for every part of the page. */
export const useOpenRequests = (refetchInterval: number = countEvery) => {
  const { management, environment, may } = useApi();
  return useQuery({
    queryKey: [...keyOfRequests(environment.name), "open"],
    queryFn: async () =>
      valueOrThrow(await management.changeRequests.list({ state: "open", limit: mostOpen })),
    refetchInterval,
    enabled: may("change-requests.read"),
  });
};

export const useRequestPages = (state: RequestState | undefined) => {
  const { management, environment } = useApi();
  return usePages({
    queryKey: [...keyOfRequests(environment.name), "pages", state ?? "all"],
    pageSize,
    refetchInterval: readEvery,
    read: (page) =>
      management.changeRequests.list({ ...page, ...(state !== undefined && { state }) }),
  });
};

export const useRequest = (id: string) => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [...keyOfRequests(environment.name), id],
    queryFn: async () => valueOrThrow(await management.changeRequests.get(id)),
    refetchInterval: readEvery,
  });
};
