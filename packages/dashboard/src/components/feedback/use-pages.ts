// A list that is read page by page, newest first; ShowOlder reads the next page.
import type { Result } from "@halyard/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { ApiError } from "../../api.ts";

interface PagesOptions<T> {
  readonly queryKey: readonly unknown[];
  readonly pageSize: number;
  readonly read: (page: {
    readonly limit: number;
    readonly cursor?: string;
  }) => Promise<Result<readonly T[]> & { readonly next?: string | undefined }>;
  readonly refetchInterval?: number;
}

export const usePages = <T>({ pageSize, read, ...options }: PagesOptions<T>) =>
  useInfiniteQuery({
    ...options,
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const result = await read({
        limit: pageSize,
        ...(pageParam !== undefined && { cursor: pageParam }),
      });
      if (!result.ok) throw new ApiError(result.error);
      return { entries: result.value, next: result.next };
    },
    getNextPageParam: ({ next }) => next,
  });
