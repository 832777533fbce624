// One flag in the list: its switch, its key, its reach, its last change and its usage.

import type { Flag } from "@halyard/core/flags/registry";
import { actorText } from "@halyard/core/history/actor-text";
import type { LastChange } from "@halyard/sdk/management";
import { Switch } from "@mantine/core";
import type { CSSProperties } from "react";
import { Link } from "wouter";
import { OnOff } from "../../components/display/read-only.tsx";
import { StatusBadge } from "../../components/display/status-badge.tsx";
import { Time } from "../../components/display/time.tsx";
import { SelectRow } from "../../components/selection/select-row.tsx";
import { formatCompact } from "../../format.ts";
import type { LiveFlag } from "../../live.ts";
import { editorOf } from "../types/type-editors.tsx";

interface FlagRowProps {
  readonly entry: LiveFlag;
  readonly usage:
    | { readonly count: number; readonly last: string | null; readonly together: string | null }
    | undefined;
  /** Null while it is not known. */
  readonly change: LastChange | null;
  readonly stale: boolean;
  readonly position: number;
  readonly of: number;
  readonly mayChange: boolean;
  readonly selected: boolean;
  /** Absent when rows cannot be selected. */
  readonly onSelect?: (isRange: boolean) => void;
  readonly style: CSSProperties;
  readonly onToggle: () => void;
  readonly onFocus: () => void;
  readonly linkRef: (element: HTMLAnchorElement | null) => void;
}

const Usage = ({ usage, stale }: Pick<FlagRowProps, "usage" | "stale">) => {
  if (usage === undefined) return null;
  const { count, last, together } = usage;
  const at = last ?? together;
  return (
    <>
      {stale && <StatusBadge tone="waiting">stale</StatusBadge>}
      {!stale && last !== null && (
        <span>
          {formatCompact(count)} {count === 1 ? "evaluation" : "evaluations"}
        </span>
      )}
      {at === null ? (
        <span className="dimmed">no evaluations</span>
      ) : (
        <span className="dimmed">
          {last === null ? "with all flags: " : "last: "}
          <Time at={at} />
        </span>
      )}
    </>
  );
};

/** More would leave no room for the description. */
const shownTags = 2;

const RowLabels = ({ flag: { tags = [], owner } }: { readonly flag: Flag }) => {
  const more = tags.length - shownTags;
  return (
    <>
      {tags.slice(0, shownTags).map((tag) => (
        <span key={tag} className="flag-row-tag">
          <span className="visually-hidden">tag </span>
          {tag}
        </span>
      ))}
      {more > 0 && (
        <span className="flag-row-tag" title={tags.slice(shownTags).join(", ")}>
          +{more}
          <span className="visually-hidden"> tags</span>
        </span>
      )}
      {owner !== undefined && (
        <span className="flag-row-owner">
          <span className="visually-hidden">owner </span>
          {owner}
        </span>
      )}
    </>
  );
};

export const FlagRow = (props: FlagRowProps) => {
  const { entry, usage, change, stale, position, of, mayChange, style, selected, onSelect } = props;
  const { onToggle, onFocus, linkRef } = props;
  const { flag } = entry;
  const { label, Reach } = editorOf(flag.type);
  return (
    <li
      className="flag-row"
      style={style}
      aria-posinset={position}
      aria-setsize={of}
      onFocus={onFocus}
      data-selected={selected || undefined}
    >
      <div className="flag-row-controls">
        {onSelect !== undefined && (
          <SelectRow label={`Select ${flag.key}`} checked={selected} onToggle={onSelect} />
        )}
        {mayChange ? (
          <Switch
            checked={flag.enabled}
            onChange={onToggle}
            aria-label={`${flag.key} is on`}
            color="teal.8"
          />
        ) : (
          <OnOff isOn={flag.enabled} />
        )}
      </div>
      <div className="flag-row-words">
        <Link
          href={`/flags/${encodeURIComponent(flag.key)}`}
          className="flag-row-key"
          ref={linkRef}
        >
          {flag.key}
        </Link>
        <span className="flag-row-description">
          <RowLabels flag={flag} /> {flag.description ?? ""}
        </span>
      </div>
      <span className="flag-row-type">{label}</span>
      <Reach flag={flag} />
      <div className="flag-row-change">
        {change !== null && (
          <>
            <span>
              <span className="flag-row-changed">Changed </span>
              <Time at={change.at} />
            </span>
            <span className="flag-row-actor dimmed">by {actorText(change.actor)}</span>
          </>
        )}
      </div>
      <div className="flag-row-usage">
        <Usage usage={usage} stale={stale} />
      </div>
    </li>
  );
};
