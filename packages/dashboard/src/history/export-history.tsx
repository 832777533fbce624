// Exports everything that the filter selects as a file: read page by page, with progress, until it is cancelled.
import type { HistoryEntry, HistoryQuery, Management } from "@halyard/sdk/management";
import { Button, Menu } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { Icon } from "../components/display/icon.tsx";
import { saveFile } from "../components/display/save-file.ts";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { csvHead, csvRows } from "./csv.ts";
import { type HistoryFilter, queryOf } from "./history-filter.ts";

type Format = "csv" | "json" | "jsonl";

const largestPage = 1_000;
const types: Readonly<Record<Format, string>> = {
  csv: "text/csv;charset=utf-8",
  json: "application/json",
  jsonl: "application/x-ndjson",
};

interface Exported {
  readonly file: Blob;
  readonly count: number;
}

const jsonRows = (entries: readonly HistoryEntry[], earlier: number): string =>
  entries
    .map((entry, index) => (earlier + index > 0 ? ",\n" : "") + JSON.stringify(entry))
    .join("");

/** All of it with its hashes, whatever the filter: a part alone cannot be verified. */
const readChain = async (
  management: Management,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (count: number) => void },
): Promise<Exported | undefined> => {
  const parts: Blob[] = [];
  let count = 0;
  for await (const part of management.historyExport({ signal })) {
    if (signal.aborted) return undefined;
    if (!part.ok) {
      notifyError("The export was not finished", part.error);
      return undefined;
    }
    parts.push(new Blob([part.value]));
    count += part.value.split('"type":"entry"').length - 1;
    onProgress(count);
  }
  return { file: new Blob(parts, { type: types.jsonl }), count };
};

/** Undefined when it was cancelled. Each page becomes a Blob, which the browser need not keep in memory. */
const readAll = async (
  management: Management,
  query: HistoryQuery,
  format: Exclude<Format, "jsonl">,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (count: number) => void },
): Promise<Exported | undefined> => {
  const parts = [new Blob([format === "csv" ? csvHead : "["])];
  let count = 0;
  for await (const page of management.historyPages({ ...query, limit: largestPage }, { signal })) {
    if (signal.aborted) return undefined;
    if (!page.ok) {
      notifyError("The export was not finished", page.error);
      return undefined;
    }
    parts.push(new Blob([format === "csv" ? csvRows(page.value) : jsonRows(page.value, count)]));
    count += page.value.length;
    onProgress(count);
  }
  if (format === "json") parts.push(new Blob(["]\n"]));
  return { file: new Blob(parts, { type: types[format] }), count };
};

export const ExportHistory = ({ filter }: { readonly filter: HistoryFilter }) => {
  const { management, environment } = useApi();
  const [count, setCount] = useState<number | undefined>();
  const stop = useRef<AbortController>(undefined);
  // Nobody waits for it on another page.
  useEffect(() => () => stop.current?.abort(), []);
  const run = async (format: Format) => {
    const abort = new AbortController();
    stop.current = abort;
    setCount(0);
    const now = Date.now();
    const watch = { signal: abort.signal, onProgress: setCount };
    const exported =
      format === "jsonl"
        ? await readChain(management, watch)
        : await readAll(management, queryOf(filter, now), format, watch);
    setCount(undefined);
    if (exported === undefined) return;
    const day = new Date(now).toISOString().slice(0, 10);
    saveFile(exported.file, `history-${environment.name}-${day}.${format}`);
    notifyDone({ title: "History", message: `Exported ${countOf(exported.count)}.` });
  };
  if (count !== undefined) {
    return (
      <>
        <span role="status">Exporting, {countOf(count)} so far…</span>
        <Button variant="default" onClick={() => stop.current?.abort()}>
          Cancel export
        </Button>
      </>
    );
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" rightSection={<Icon name="chevron" size={16} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void run("csv")}>CSV, for spreadsheets</Menu.Item>
        <Menu.Item onClick={() => void run("json")}>JSON, as the API gives it</Menu.Item>
        <Menu.Item onClick={() => void run("jsonl")}>All with hashes, to verify it</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};

const countOf = (count: number): string =>
  `${formatNumber(count)} ${count === 1 ? "change" : "changes"}`;
