// One change: who made it, when, to what, and the difference.
import type { Flag } from "@halyard/core/flags/registry";
import type { HistoryEntry } from "@halyard/sdk";
import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { StatusBadge } from "../components/display/status-badge.tsx";
import { Time } from "../components/display/time.tsx";
import { FlagDiff } from "../flags/edit/flag-diff.tsx";
import { formatNumber } from "../format.ts";

const isFlag = (value: unknown): value is Flag =>
  typeof value === "object" && value !== null && "key" in value && "enabled" in value;
export const flagOf = (value: unknown): Flag | null => (isFlag(value) ? value : null);

const nameOf = ({ subject, id, before, after }: HistoryEntry): string => {
  if (subject === "flag") return id;
  const shown = (after ?? before)?.[subject === "webhook" ? "url" : "name"];
  return typeof shown === "string" ? shown : id;
};

const Subject = ({ entry }: { readonly entry: HistoryEntry }) => {
  const name = nameOf(entry);
  const isGone = entry.after === null;
  if (entry.subject === "key" || (isGone && entry.subject === "webhook")) {
    return <span className="mono">{name}</span>;
  }
  const path = `/${entry.subject}s/${encodeURIComponent(entry.id)}`;
  return (
    <Anchor component={Link} href={path} className="mono">
      {name}
    </Anchor>
  );
};

export const EventEntry = ({ entry }: { readonly entry: HistoryEntry }) => {
  const { subject, actor, createdAt, version, actions, before, after } = entry;
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
        {subject === "flag" ? (
          <FlagDiff before={flagOf(before)} after={flagOf(after)} />
        ) : (
          <FieldDiff before={before} after={after} />
        )}
      </div>
    </li>
  );
};

const toneOf = (action: string) => {
  if (/\.(deleted|revoked)$/.test(action)) return "bad";
  return /\.(created|enabled|issued)$/.test(action) ? "good" : "quiet";
};
