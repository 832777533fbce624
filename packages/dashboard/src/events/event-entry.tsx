// One change: who made it, when, to what, and the difference.
import type { Flag } from "@halyard/core/flags/registry";
import type { HistoryEntry } from "@halyard/sdk";
import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { Reason } from "../components/display/reason.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { FlagDiff } from "../flags/edit/flag-diff.tsx";
import { formatNumber } from "../format.ts";
import { addressOfHistory } from "../history/history-filter.ts";
import { SegmentDiff } from "../segments/segment-diff.tsx";

const isFlag = (value: unknown): value is Flag =>
  typeof value === "object" && value !== null && "key" in value && "enabled" in value;
export const flagOf = (value: unknown): Flag | null => (isFlag(value) ? value : null);

const nameOf = ({ subject, id, before, after }: HistoryEntry): string => {
  if (subject === "flag" || subject === "segment") return id;
  const shown = (after ?? before)?.[subject === "webhook" ? "url" : "name"];
  return typeof shown === "string" ? shown : id;
};

const Subject = ({ entry }: { readonly entry: HistoryEntry }) => {
  const name = nameOf(entry);
  const isGone = entry.after === null;
  if (
    entry.subject === "key" ||
    entry.subject === "user" ||
    (isGone && entry.subject === "webhook")
  ) {
    return <span className="mono">{name}</span>;
  }
  // Of a segment that is gone there is its history alone.
  const path =
    isGone && entry.subject === "segment"
      ? addressOfHistory({ kind: entry.subject, key: entry.id })
      : `/${entry.subject}s/${encodeURIComponent(entry.id)}`;
  return (
    <Anchor component={Link} href={path} className="mono">
      {name}
    </Anchor>
  );
};

interface EventEntryProps {
  readonly entry: HistoryEntry;
  /** What can be done with it. */
  readonly action?: ReactNode;
}

const Difference = ({ entry: { subject, before, after } }: { readonly entry: HistoryEntry }) => {
  switch (subject) {
    case "flag":
      return <FlagDiff before={flagOf(before)} after={flagOf(after)} />;
    case "segment":
      return <SegmentDiff before={before} after={after} />;
    case "webhook":
    case "key":
    case "user":
      return <FieldDiff before={before} after={after} />;
  }
};

export const EventEntry = ({ entry, action }: EventEntryProps) => {
  const { actor, createdAt, version, actions, reason } = entry;
  return (
    <li className="event-entry">
      <div className="history-who">
        <strong>{actor.name}</strong>
        <span className="dimmed">
          <Time at={createdAt} />
          {version !== null && `, version ${formatNumber(version)}`}
        </span>
      </div>
      <div>
        <div className="event-what">
          <Subject entry={entry} />
          <span className="event-actions">
            {actions.map((action) => (
              <StatusBadge key={action} tone={toneOf(action)}>
                {action}
              </StatusBadge>
            ))}
          </span>
        </div>
        <Reason reason={reason} />
        <Difference entry={entry} />
      </div>
      {action !== undefined && <div>{action}</div>}
    </li>
  );
};

const toneOf = (action: string) => {
  if (/\.(deleted|revoked)$/.test(action)) return "bad";
  return /\.(created|enabled|issued)$/.test(action) ? "good" : "quiet";
};
