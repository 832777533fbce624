// Restores what an entry of the history left: a version of what exists, or what was deleted.
import type { HistoryEntry } from "@halyard/sdk/management";
import { Button } from "@mantine/core";
import { useState } from "react";
import { flagOf } from "../events/event-entry.tsx";
import { canRestore } from "../flags/edit/flag-change.ts";
import { useFlagEdits } from "../flags/edit/flag-edits.tsx";
import { useLiveState } from "../live-provider.tsx";
import { useRestoreSegment } from "../segments/restore-segment.tsx";
import { useApi } from "../session.tsx";

interface RestoreProps {
  readonly label: string;
  readonly of: string;
  readonly onRestore: () => Promise<unknown>;
}

const Restore = ({ label, of, onRestore }: RestoreProps) => {
  const [busy, setBusy] = useState(false);
  return (
    <Button
      variant="default"
      size="compact-sm"
      loading={busy}
      aria-label={`${label}: ${of}`}
      onClick={() => {
        setBusy(true);
        void onRestore().finally(() => setBusy(false));
      }}
    >
      {label}
    </Button>
  );
};

const RestoreFlag = ({ entry }: { readonly entry: HistoryEntry }) => {
  const edits = useFlagEdits();
  const { byKey } = useLiveState();
  const { id, version } = entry;
  const current = byKey.get(id);
  const [before, after] = [flagOf(entry.before), flagOf(entry.after)];
  if (current === undefined) {
    const last = after ?? before;
    if (last === null) return null;
    return (
      <Restore
        label="Restore"
        of={`${id}, version ${version}`}
        onRestore={() => edits.recreate(last)}
      />
    );
  }
  if (after === null || version === current.version || !canRestore(current.flag, after))
    return null;
  return (
    <Restore
      label="Restore this version"
      of={`${id}, version ${version}`}
      onRestore={() => edits.restore(current, after)}
    />
  );
};

const RestoreSegment = ({ entry }: { readonly entry: HistoryEntry }) => {
  const restore = useRestoreSegment();
  const { segmentsByKey } = useLiveState();
  const current = segmentsByKey.get(entry.id);
  const { id, version } = entry;
  if (version === null || version === current?.version) return null;
  return (
    <Restore
      label={current === undefined ? "Restore" : "Restore this version"}
      of={`${id}, version ${version}`}
      onRestore={() => restore(id, version)}
    />
  );
};

const useExists = ({ subject, id }: HistoryEntry): boolean => {
  const { byKey, segmentsByKey } = useLiveState();
  return (subject === "flag" && byKey.has(id)) || (subject === "segment" && segmentsByKey.has(id));
};

export const RestoreButton = ({ entry }: { readonly entry: HistoryEntry }) => {
  const { mayChange } = useApi();
  const exists = useExists(entry);
  if (entry.after === null && exists) return <span className="dimmed">Exists again</span>;
  if (!mayChange) return null;
  if (entry.subject === "flag") return <RestoreFlag entry={entry} />;
  return entry.subject === "segment" ? <RestoreSegment entry={entry} /> : null;
};
