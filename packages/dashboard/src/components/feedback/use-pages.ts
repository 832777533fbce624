// A list that is read page by page, newest first; ShowOlder reads the next page.
import type { Result } from "@halyard/sdk/management";
import { type InfiniteData, useInfiniteQuery } from "@tanstack/react-query";
import { ApiError } from "../../api.ts";

interface Page<T> {
  readonly entries: readonly T[];
  readonly next: string | undefined;
}
type Pages<T> = InfiniteData<Page<T>, string | undefined>;

interface PagesOptions<T> {
  readonly queryKey: readonly unknown[];
  readonly pageSize: number;
  /** The signal aborts when the list is no longer shown. */
  readonly read: (
    page: { readonly limit: number; readonly cursor?: string },
    signal: AbortSignal,
  ) => Promise<Result<readonly T[]> & { readonly next?: string | undefined }>;
  readonly refetchInterval?: number;
  /** The result of an earlier query in the same environment stays until the first page arrives. */
  readonly keepPrevious?: boolean;
}

export const usePages = <T>({ pageSize, read, keepPrevious, ...options }: PagesOptions<T>) =>
  useInfiniteQuery<Page<T>, Error, Pages<T>, readonly unknown[], string | undefined>({
    ...options,
    placeholderData: (previous, query) =>
      keepPrevious && query?.queryKey[0] === options.queryKey[0] ? previous : undefined,
    initialPageParam: undefined,
    queryFn: async ({ pageParam, signal }) => {
      const page = { limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) };
      const result = await read(page, signal);
      if (!result.ok) throw new ApiError(result.error);
      return { entries: result.value, next: result.next };
    },
    getNextPageParam: ({ next }) => next,
  });
