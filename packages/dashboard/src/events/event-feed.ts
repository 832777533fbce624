// The changes of the environment, newest first: all of them, those of one kind, or those of one flag.
import type { HistoryEntry } from "@halyard/sdk/management";
import { usePages } from "../components/feedback/use-pages.ts";
import { useApi } from "../session.tsx";

export const subjects = ["flag", "webhook", "key"] as const;

export interface EventFilter {
  readonly subject: HistoryEntry["subject"] | undefined;
  /** The full key of a flag; empty for all. */
  readonly flag: string;
}

export const eventFilterFrom = (parameters: URLSearchParams): EventFilter => ({
  subject: subjects.find((subject) => subject === parameters.get("subject")),
  flag: parameters.get("flag") ?? "",
});

export const parametersOf = ({ subject, flag }: EventFilter): URLSearchParams =>
  new URLSearchParams([
    ...(subject === undefined ? [] : [["subject", subject]]),
    ...(flag === "" ? [] : [["flag", flag]]),
  ]);

const pageSize = 50;
/** Changes of flags arrive through the stream; this is for everything else. */
const refetchEvery = 3_000;

export const useEventFeed = ({ subject, flag }: EventFilter) => {
  const { management, environment } = useApi();
  const read = async (page: { readonly limit: number; readonly cursor?: string }) => {
    if (flag === "") {
      return management.history({ ...page, ...(subject !== undefined && { subject }) });
    }
    const result = await management.flags.history(flag, page);
    if (!result.ok) return result;
    const value = result.value.map(
      ({ events, ...entry }): HistoryEntry => ({
        ...entry,
        subject: "flag",
        id: flag,
        actions: events,
        before: entry.before === null ? null : { ...entry.before },
        after: entry.after === null ? null : { ...entry.after },
      }),
    );
    return { ...result, value };
  };
  return usePages({
    queryKey: [environment.name, "history", subject, flag],
    pageSize,
    read,
    refetchInterval: refetchEvery,
  });
};

/** The API gives no ID, but these fields together are unique. */
export const nameOf = ({ subject, id, version, createdAt, actions }: HistoryEntry): string =>
  [createdAt, subject, id, version, ...actions].join(" ");
