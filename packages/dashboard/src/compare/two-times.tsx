// One environment at two times: what has changed between them, in flags and segments.

import { Button, Group, SegmentedControl, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { ApiError } from "../api.ts";
import { Dialog } from "../components/feedback/dialog.tsx";
import { EmptyState } from "../components/feedback/empty-state.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { RowsSkeleton } from "../components/feedback/skeletons.tsx";
import { useParameters } from "../components/layout/use-parameters.ts";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { type Compared, type Row, rowDiffers, rowsOf } from "./compare-rows.ts";
import { CompareTable } from "./compare-table.tsx";
import { Difference } from "./difference-dialog.tsx";
import { readPastState } from "./environment-snapshots.ts";

const names = { first: "before", second: "after" } as const;

/** As the input has it, in the time of the browser's zone. */
const localText = (time: Date): string =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);

const hour = 3_600_000;

/** Undefined while it is no time. */
const timeOf = (text: string): string | undefined =>
  Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString();

const useStateAt = (text: string) => {
  const api = useApi();
  const at = timeOf(text);
  return useQuery({
    queryKey: [api.environment.name, "snapshot at", at],
    queryFn: ({ signal }) => readPastState(api, at, signal),
    // Without a time it is about now.
    enabled: text === "" || at !== undefined,
    placeholderData: keepPreviousData,
    structuralSharing: false,
    retry: false,
  });
};

const sentenceOf = ({ values }: Row): string => {
  if (!values.has(names.first)) return "It was not there before. Afterwards it is:";
  return values.has(names.second)
    ? "What has changed:"
    : "It is not there afterwards. Before it was:";
};

export const TwoTimes = () => {
  const { environment } = useApi();
  const [parameters, set] = useParameters();
  const [yesterday] = useState(() => localText(new Date(Date.now() - 24 * hour)));
  const from = parameters.get("from") ?? yesterday;
  const to = parameters.get("to") ?? "";
  const kind: Compared = parameters.get("kind") === "segment" ? "segment" : "flag";
  const [first, second] = [useStateAt(from), useStateAt(to)];
  const error = first.error ?? second.error;
  // History does not reach back that far: a new environment, or one that keeps only some days.
  const isOutside = error instanceof ApiError && error.failure.code === "CONFLICT";
  const [firstState, secondState] = [first.data, second.data];
  const rows = useMemo(() => {
    if (!firstState || !secondState) return undefined;
    const states = new Map([
      [names.first, firstState],
      [names.second, secondState],
    ]);
    return rowsOf(kind, states).filter((row) => rowDiffers(row, names.first, [names.second]));
  }, [kind, firstState, secondState]);
  const [opened, setOpened] = useState<string>();
  const row = rows?.find(({ key }) => key === opened);
  const what = kind === "flag" ? "flag" : "segment";
  const close = () => setOpened(undefined);
  return (
    <>
      <search className="flag-filters compare-times">
        <TextInput
          type="datetime-local"
          step={1}
          label="From, in your time zone"
          value={from}
          onChange={(event) => set("from", event.currentTarget.value)}
        />
        <TextInput
          type="datetime-local"
          step={1}
          label="To; empty for now"
          value={to}
          onChange={(event) => set("to", event.currentTarget.value)}
        />
        <SegmentedControl
          aria-label="What to compare"
          data={[
            { value: "flag", label: "Flags" },
            { value: "segment", label: "Segments" },
          ]}
          value={kind}
          onChange={(value) => set("kind", value === "segment" ? value : "")}
        />
      </search>
      {error && !isOutside && (
        <ErrorMessage error={error} title={`${environment.name} could not be read`} />
      )}
      {isOutside && <EmptyState title="Choose a later time">{error.message}</EmptyState>}
      {!error && (
        <p className="flag-count dimmed" role="status">
          {rows &&
            `${formatNumber(rows.length)} ${what}${rows.length === 1 ? "" : "s"} changed in ${environment.name}`}
        </p>
      )}
      {!error && !rows && <RowsSkeleton rows={8} height={60} />}
      {!error && rows?.length === 0 && (
        <EmptyState title="Nothing has changed">
          The {what}s of {environment.name} were the same at both times.
        </EmptyState>
      )}
      {!error && rows !== undefined && rows.length > 0 && (
        <CompareTable
          kind={kind}
          rows={rows}
          environments={[names.first, names.second]}
          counts={new Map([[names.second, rows.length]])}
          selection={undefined}
          onBase={undefined}
          onOpen={setOpened}
        />
      )}
      {row && (
        <Dialog onClose={close} title={`${row.key} at two times`} size="lg">
          <p className="confirm-sentence" role="status">
            {sentenceOf(row)}
          </p>
          <Difference before={row.values.get(names.first)} after={row.values.get(names.second)} />
          <Group justify="flex-end" mt="lg">
            <Button variant="default" onClick={close}>
              Close
            </Button>
          </Group>
        </Dialog>
      )}
    </>
  );
};
