// Asks the server whom a change would change, again when the change is edited, and shows the answer.
import type { NewOperation } from "@halyard/sdk/management";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { explain } from "../advice.ts";
import { ApiError, valueOrThrow } from "../api.ts";
import type { Api } from "../session.tsx";
import { Flips } from "./flips.tsx";
import { FlipsPlace } from "./flips-place.tsx";

export interface AskedPreviewProps {
  /** Of the environment that changes. Dialogs stand above the pages and have none of their own. */
  readonly api: Api;
  readonly operations: readonly NewOperation[];
}

/** Who types is not asked about at every letter. */
const settlesAfter = 300;

/** At first what it is, then what it has been for a moment. */
const useSettled = (text: string): string => {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), settlesAfter);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
};

/** What the server takes in one request: 100 operations in 256 KiB. */
const [maxOperations, maxLength] = [100, 240 * 1_024];

/** Said when it is saved; what is still being typed need not be right. */
const isOfChange = (error: Error): boolean =>
  error instanceof ApiError && ["VALIDATION_FAILED", "CONFLICT"].includes(error.failure.code);

const NoPreview = ({ why }: { readonly why: string }) => (
  <p className="flips-none dimmed">No preview of whom this changes: {why}</p>
);

const AskedOf = ({ api, text }: { readonly api: Api; readonly text: string }) => {
  const { management, environment } = api;
  const settled = useSettled(text);
  const query = useQuery({
    queryKey: [environment.name, "preview", settled],
    queryFn: async ({ signal }) =>
      valueOrThrow(await management.preview.operations(JSON.parse(settled), { signal })),
    placeholderData: (before) => before,
  });
  const { data, error } = query;
  if (error !== null && data === undefined) {
    return isOfChange(error) ? <FlipsPlace /> : <NoPreview why={explain(error).message} />;
  }
  if (data?.sample === null) return <FlipsPlace />;
  return <Flips preview={data} isOld={query.isPlaceholderData || settled !== text} />;
};

export const AskedPreview = ({ api, operations }: AskedPreviewProps) => {
  const text = JSON.stringify(operations);
  if (operations.length > maxOperations || text.length > maxLength) {
    return <NoPreview why="it takes at most 100 changes in 256 KiB." />;
  }
  return <AskedOf api={api} text={text} />;
};
