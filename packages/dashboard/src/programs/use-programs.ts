// The programs of the environment, kept current while somebody looks.
import { useQuery } from "@tanstack/react-query";
import { valueOrThrow } from "../api.ts";
import { useApi } from "../session.tsx";

const refetchEvery = 2_000;

export const usePrograms = () => {
  const { management, environment } = useApi();
  return useQuery({
    queryKey: [environment.name, "programs"],
    queryFn: async ({ signal }) => valueOrThrow(await management.clients({}, { signal })),
    refetchInterval: refetchEvery,
  });
};
