// Reads change requests for their pages, again and again while the page is visible: the stream tells of flags and segments alone.
import type { ChangeRequestSummary } from "@halyard/sdk/management";
import { useQuery } from "@tanstack/react-query";
import { valueOrThrow } from "../api.ts";
import { usePages } from "../components/feedback/use-pages.ts";
import { useApi } from "../session.tsx";
import { keyOfRequests } from "./open-requests.ts";

const readEvery = 3_000;
const pageSize = 50;

export const useRequestPages = (state: ChangeRequestSummary["state"] | undefined) => {
  const { management, environment } = useApi();
  return usePages({
    queryKey: [...keyOfRequests(environment.name), "pages", state ?? "all"],
    pageSize,
    refetchInterval: readEvery,
    read: async (page) => {
      const query = { ...page, ...(state !== undefined && { state }) };
      const result = await management.changeRequests.list(query);
      if (!result.ok) return result;
      const { requests, next } = result.value;
      return { ok: true, value: requests, ...(next !== null && { next }) };
    },
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
