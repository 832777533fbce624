// One change: who made it, when, to what, and the difference.
import type { Flag } from "@halyard/core/flags/registry";
import type { HistoryEntry } from "@halyard/sdk/management";
import { Anchor } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { ActorName } from "../components/display/actor-name.tsx";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { Reason } from "../components/display/reason.tsx";
import { Review } from "../components/display/review.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { FlagDiff } from "../flags/edit/flag-diff.tsx";
import { formatNumber } from "../format.ts";
import { AsItWas } from "../history/as-it-was.tsx";
import { addressOfHistory } from "../history/history-filter.ts";
import { SegmentDiff } from "../segments/segment-diff.tsx";

const isFlag = (value: unknown): value is Flag =>
  typeof value === "object" && value !== null && "key" in value && "enabled" in value;
export const flagOf = (value: unknown): Flag | null => (isFlag(value) ? value : null);

const nameFields = {
  webhook: "url",
  key: "name",
  user: "name",
  environment: "name",
  "change-request": "title",
} as const;

const nameOf = ({ subject, id, before, after }: HistoryEntry): string => {
  if (subject === "flag" || subject === "segment") return id;
  const shown = (after ?? before)?.[nameFields[subject]];
  return typeof shown === "string" ? shown : id;
};

const Subject = ({ entry }: { readonly entry: HistoryEntry }) => {
  const name = nameOf(entry);
  const isGone = entry.after === null;
  const hasPage =
    ["flag", "segment", "change-request"].includes(entry.subject) ||
    (entry.subject === "webhook" && !isGone);
  if (!hasPage) {
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
    case "environment":
      return <FieldDiff before={before} after={after} />;
    case "change-request":
      // Its page tells what it changes.
      return null;
  }
};

export const EventEntry = ({ entry, action }: EventEntryProps) => {
  const { actor, createdAt, version, actions, reason } = entry;
  return (
    <li className="event-entry">
      <div className="history-who">
        <ActorName actor={actor} />
        <span className="dimmed">
          <Time at={createdAt} />
          {version !== null && `, version ${formatNumber(version)}`}
        </span>
        {entry.subject === "flag" && entry.after !== null && entry.revision !== null && (
          <AsItWas flagKey={entry.id} revision={entry.revision} />
        )}
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
        <Review of={entry} />
        <Difference entry={entry} />
      </div>
      {action !== undefined && <div>{action}</div>}
    </li>
  );
};

const toneOf = (action: string) => {
  if (/\.(deleted|revoked|removed)$/.test(action)) return "bad";
  return /\.(created|enabled|issued|added)$/.test(action) ? "good" : "quiet";
};
