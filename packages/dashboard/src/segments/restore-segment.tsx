// Restores a segment as a version left it, with its members from the history.
import { type MemberList, memberLists, type Segment } from "@halyard/core/targeting/segment";
import type { Result, SegmentSummary } from "@halyard/sdk";
import { useCallback } from "react";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { type Given, useReason } from "../components/feedback/reason.tsx";
import type { Outcome } from "../flags/edit/flag-edits.tsx";
import { formatNumber } from "../format.ts";
import { useLive } from "../live-provider.tsx";
import { type Api, useApi } from "../session.tsx";
import { partsOf } from "./members/parts.ts";
import { changesBackTo, segmentAt } from "./segment-past.ts";
import { conditionText } from "./segment-words.ts";

interface Part {
  readonly list: MemberList;
  readonly verb: "add" | "remove";
  readonly members: readonly string[];
}

/** What has to be done to the members, in parts that fit into a request. */
const partsBetween = (from: Segment | undefined, to: Segment): readonly Part[] =>
  memberLists.flatMap((list) => {
    const [was, will] = [new Set(from?.[list]), new Set(to[list])];
    const parts = (verb: Part["verb"], members: ReadonlySet<string>) =>
      partsOf([...members]).map((part) => ({ list, verb, members: part }));
    return [...parts("remove", was.difference(will)), ...parts("add", will.difference(was))];
  });

const countOf = (parts: readonly Part[], verb: Part["verb"]): string =>
  formatNumber(
    parts
      .filter((part) => part.verb === verb)
      .reduce((sum, { members }) => sum + members.length, 0),
  );

const Differences = ({
  from,
  to,
}: {
  readonly from: Segment | undefined;
  readonly to: Segment;
}) => {
  const parts = partsBetween(from, to);
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
        Members: {countOf(parts, "add")} added, {countOf(parts, "remove")} removed
      </li>
    </ul>
  );
};

const write = async (
  { management: { segments } }: Api,
  from: Segment | undefined,
  version: number,
  to: Segment,
  given: Given,
): Promise<Result<SegmentSummary>> => {
  const { key, ...whole } = to;
  const { description, when } = whole;
  const match = { ifMatch: version, ...given };
  // What fits into one request is one change.
  if (partsOf([...to.include, ...to.exclude]).length <= 1) {
    return from === undefined ? segments.create(to, given) : segments.update(key, whole, match);
  }
  let done =
    from === undefined
      ? await segments.create({ key, description, when }, given)
      : await segments.update(key, { description, when }, match);
  for (const { list, verb, members } of partsBetween(from, to)) {
    if (!done.ok) return done;
    done = await segments.changeMembers(key, { [list]: { [verb]: members } }, given);
  }
  return done;
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
        return "failed";
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
        body: <Differences from={read?.value} to={to} />,
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
