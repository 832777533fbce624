// The environments that there are, for those who manage them.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { valueOrThrow } from "../api.ts";
import { useApi, useSession } from "../session.tsx";

const readEvery = 15_000;
const queryKey = ["environments"];

export const maxLabelLength = 60;

export const useEnvironments = () => {
  const { management } = useApi();
  return useQuery({
    queryKey,
    queryFn: async () => valueOrThrow(await management.environments.list()),
    refetchInterval: readEvery,
  });
};

/** After a change: the list, and the labels that the session knows. */
export const useEnvironmentsChanged = (): (() => Promise<void>) => {
  const queries = useQueryClient();
  const { refresh } = useSession();
  return async () => {
    await Promise.all([queries.invalidateQueries({ queryKey }), refresh()]);
  };
};
