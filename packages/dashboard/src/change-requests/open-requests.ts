// The requests that wait for an approval, the same for every part of the page.
import { useQuery } from "@tanstack/react-query";
import { valueOrThrow } from "../api.ts";
import { useApi } from "../session.tsx";

export const keyOfRequests = (environment: string) => [environment, "change-requests"] as const;

/** The number in the navigation may be a little late. */
const readEvery = 15_000;
const mostOpen = 100;

export const useOpenRequests = () => {
  const { management, environment, may } = useApi();
  return useQuery({
    queryKey: [...keyOfRequests(environment.name), "open"],
    queryFn: async () => {
      const page = await management.changeRequests.list({ state: "open", limit: mostOpen });
      return valueOrThrow(page).requests;
    },
    refetchInterval: readEvery,
    enabled: may("change-requests.read"),
  });
};
