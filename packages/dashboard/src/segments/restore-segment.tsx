// Restores a segment as a version left it, with its members from the history.
import { memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { NewOperation, Result, SegmentSummary } from "@halyard/sdk/management";
import {
  changeMembers,
  type MembersChange,
  membersBetween,
  partsOf,
} from "@halyard/sdk/segment-members";
import { useCallback } from "react";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { type Given, useReason } from "../components/feedback/reason.tsx";
import { failedOr, type Outcome } from "../flags/edit/flag-edits.tsx";
import { FlipPreview } from "../flips/flip-preview.tsx";
import { formatNumber } from "../format.ts";
import { useLive } from "../live-provider.tsx";
import { type Api, useApi } from "../session.tsx";
import { changesBackTo, segmentAt } from "./segment-past.ts";
import { conditionText } from "./segment-words.ts";

const none = { include: [], exclude: [] };

const countOf = (change: MembersChange, verb: "add" | "remove"): string =>
  formatNumber(memberLists.reduce((sum, list) => sum + (change[list]?.[verb]?.length ?? 0), 0));

const Differences = ({
  from,
  to,
}: {
  readonly from: Segment | undefined;
  readonly to: Segment;
}) => {
  const members = membersBetween(from ?? none, to);
  return (
    <ul className="confirm-sentence">
      {from !== undefined && conditionText(from.when) !== conditionText(to.when) && (
        <li>
          Condition: {conditionText(from.when)} → {conditionText(to.when)}
        </li>
      )}
      {from !== undefined && from.description !== to.description && (
        <li>
          Description: {from.description ?? "none"} → {to.description ?? "none"}
        </li>
      )}
      <li>
        Members: {countOf(members, "add")} added, {countOf(members, "remove")} removed
      </li>
    </ul>
  );
};

const operationsTo = ({ key, when, include, exclude }: Segment): readonly NewOperation[] => [
  { kind: "segment", key, action: "patch", body: { when, include, exclude } },
];

const write = async (
  { management, proposes }: Api,
  from: Segment | undefined,
  version: number,
  to: Segment,
  given: Given,
): Promise<Result<SegmentSummary>> => {
  const { segments } = management;
  const { key, ...whole } = to;
  const { description, when } = whole;
  const match = { ifMatch: version, ...given };
  // What fits into one request is one change.
  if (partsOf({ include: { add: to.include }, exclude: { add: to.exclude } }).length <= 1) {
    return from === undefined ? segments.create(to, given) : segments.update(key, whole, match);
  }
  if (proposes) {
    const message =
      "This version has more members than one change request takes. Propose the members in parts on the page of the segment.";
    return { ok: false, error: { code: "PAYLOAD_TOO_LARGE", message } };
  }
  const done =
    from === undefined
      ? await segments.create({ key, description, when }, given)
      : await segments.update(key, { description, when }, match);
  if (!done.ok) return done;
  const change = membersBetween(from ?? none, to);
  const seen = done.version === undefined ? {} : { ifMatch: done.version };
  const members = (await changeMembers(management, key, change, { ...seen, ...given })) ?? done;
  if (members.ok) return members;
  const message = `${members.error.message} A part of it is restored already: restore this version again.`;
  return { ...members, error: { ...members.error, message } };
};

/** Of a segment by its key, to a version of it; of a deletion, what was deleted. */
export const useRestoreSegment = () => {
  const api = useApi();
  const live = useLive();
  const askReason = useReason();
  return useCallback(
    async function restore(key: string, version: number): Promise<Outcome> {
      const { management, environment } = api;
      const failed = (error: Parameters<typeof notifyError>[1]): Outcome => {
        notifyError(`${key} was not restored`, error);
        return failedOr(error);
      };
      const isThere = live.state().segmentsByKey.has(key);
      const read = isThere ? await management.segments.get(key) : undefined;
      if (read?.ok === false) return failed(read.error);
      const changes = await changesBackTo(management, key, version);
      if (!changes.ok) return failed(changes.error);
      const to = segmentAt(key, read?.value, changes.value);
      if (to === undefined) {
        const message = "The history no longer has this version.";
        return failed({ code: "NOT_FOUND", message });
      }
      const given = await askReason({
        everywhere: isThere,
        title: isThere
          ? `Restore version ${version} of ${key} in ${environment.name}?`
          : `Create ${key} again in ${environment.name}?`,
        body: (
          <>
            <Differences from={read?.value} to={to} />
            {isThere && <FlipPreview api={api} operations={operationsTo(to)} />}
          </>
        ),
        confirmLabel: isThere ? "Restore" : "Create segment",
      });
      if (given === undefined) return "cancelled";
      const done = await write(api, read?.value, read?.version ?? 0, to, given);
      if (!done.ok) return failed(done.error);
      live.putSegment(key, done.value, done.version ?? version + 1);
      const before = read?.version;
      notifyDone({
        title: key,
        message: `Restored as version ${version} left it.`,
        ...(before !== undefined && { undo: () => void restore(key, before) }),
      });
      return "done";
    },
    [api, live, askReason],
  );
};
