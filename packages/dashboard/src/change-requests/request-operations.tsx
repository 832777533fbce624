// What a change request changes: each operation as the difference between before and after, and what has moved on since.

import type { ChangeRequest } from "@halyard/sdk/management";
import { Anchor } from "@mantine/core";
import { Link } from "wouter";
import { FieldDiff } from "../components/display/field-diff.tsx";
import { StatusBadge, type Tone } from "../components/display/status-badge.tsx";
import { flagOf } from "../events/event-entry.tsx";
import { FlagDiff } from "../flags/edit/flag-diff.tsx";
import { FlipPreview } from "../flips/flip-preview.tsx";
import { useLiveState } from "../live-provider.tsx";
import { SegmentDiff } from "../segments/segment-diff.tsx";
import { useApi } from "../session.tsx";
import { isPending } from "./change-request.ts";

type Operation = ChangeRequest["operations"][number];

const badges: Readonly<Record<Operation["action"], readonly [Tone, string]>> = {
  create: ["good", "new"],
  patch: ["quiet", "changed"],
  delete: ["bad", "deleted"],
  members: ["quiet", "members"],
};

const Subject = ({ operation: { kind, key } }: { readonly operation: Operation }) => {
  if (kind === "flag" || kind === "segment") {
    return (
      <span>
        {kind === "segment" && "segment "}
        <Anchor component={Link} href={`/${kind}s/${encodeURIComponent(key)}`} className="mono">
          {key}
        </Anchor>
      </span>
    );
  }
  return (
    <span>
      {kind} <strong className="mono">{key}</strong>
    </span>
  );
};

const Difference = ({ operation }: { readonly operation: Operation }) => {
  const { kind, before, after } = operation;
  if (kind === "flag") return <FlagDiff before={flagOf(before)} after={flagOf(after)} />;
  if (kind === "segment") return <SegmentDiff before={before} after={after} />;
  return <FieldDiff before={before} after={after} />;
};

/** What others did to it since it was proposed; of a segment its page tells more. */
const Since = ({ operation: { kind, key, before } }: { readonly operation: Operation }) => {
  const { byKey, segmentsByKey } = useLiveState();
  const flag = kind === "flag" ? byKey.get(key)?.flag : undefined;
  const isThere = flag !== undefined || (kind === "segment" && segmentsByKey.has(key));
  return (
    <div className="request-since">
      <p>
        {isThere
          ? `Changed since this was proposed${flag === undefined ? "." : ":"}`
          : "Deleted since this was proposed."}
      </p>
      {flag !== undefined && <FlagDiff before={flagOf(before)} after={flag} />}
    </div>
  );
};

/** While it can still be decided on; what has moved on is rebased first. */
export const RequestPreview = ({ request }: { readonly request: ChangeRequest }) => {
  const api = useApi();
  if (!isPending(request) || request.moved.length > 0) return null;
  const operations = request.operations.map(({ kind, key, action, body }) => ({
    kind,
    key,
    action,
    body,
  }));
  return <FlipPreview api={api} operations={operations} />;
};

export const RequestOperations = ({ request }: { readonly request: ChangeRequest }) => (
  <ul className="request-operations" aria-label="Changes">
    {request.operations.map((operation, index) => {
      const [tone, label] = badges[operation.action];
      const hasMoved = request.moved.includes(operation.key);
      return (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes, and a key may be there twice
        <li key={`${operation.kind} ${operation.key} ${index}`}>
          <div className="request-operation-head">
            <StatusBadge tone={tone}>{label}</StatusBadge>
            <Subject operation={operation} />
            {hasMoved && <StatusBadge tone="bad">moved on</StatusBadge>}
          </div>
          <Difference operation={operation} />
          {hasMoved && <Since operation={operation} />}
        </li>
      );
    })}
  </ul>
);
