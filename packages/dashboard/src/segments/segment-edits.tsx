// Every way to change segments from the page: confirmed in production, refused when somebody else was first.
import { isSameValue } from "@halyard/core/difference";
import type { MemberList, SegmentSummary } from "@halyard/core/targeting/segment";
import type { ManagementError, NewOperation, NewSegment, Result } from "@halyard/sdk/management";
import { partsOf } from "@halyard/sdk/segment-members";
import { useMemo } from "react";
import { type Ask, useConfirm } from "../components/feedback/confirm.tsx";
import { notifyDone, notifyError, sayProposed } from "../components/feedback/notify.tsx";
import { type AskReason, type Given, useReason } from "../components/feedback/reason.tsx";
import { failedOr, type Outcome } from "../flags/edit/flag-edits.tsx";
import { FlipPreview } from "../flips/flip-preview.tsx";
import { formatNumber } from "../format.ts";
import type { Live, LiveSegment } from "../live.ts";
import { useLive } from "../live-provider.tsx";
import { proposedAt } from "../proposal.ts";
import { type Api, useApi } from "../session.tsx";
import { type AboutSegment, SegmentConflict } from "./segment-conflict.tsx";
import { usesOf } from "./segment-uses.ts";

export interface MembersChange {
  readonly list: MemberList;
  readonly verb: "add" | "remove";
  readonly members: readonly string[];
}

export interface MembersProgress {
  /** Called after each part with how many members are done. */
  readonly onProgress: (done: number) => void;
  /** Stops after the part that is under way. */
  readonly signal: AbortSignal;
}

export interface SegmentEdits {
  create(segment: NewSegment, given: Given): Promise<Result<SegmentSummary>>;
  /** `base` is what the person saw when deciding. */
  change(base: LiveSegment, patch: AboutSegment): Promise<Outcome>;
  /** "done" also when it was stopped on the way: what was sent stays. */
  changeMembers(
    base: LiveSegment,
    change: MembersChange,
    progress: MembersProgress,
  ): Promise<Outcome>;
  remove(base: LiveSegment): Promise<boolean>;
}

const peopleOf = (count: number): string =>
  `${formatNumber(count)} ${count === 1 ? "key" : "keys"}`;

const aboutOf = ({ description, when }: SegmentSummary): AboutSegment => ({ description, when });

const createEdits = (api: Api, live: Live, ask: Ask, askReason: AskReason): SegmentEdits => {
  const { management, environment, isProduction } = api;
  const { segments } = management;

  /** Whom a change of the segment reaches. */
  const reachOf = (key: string, action: NewOperation["action"], body: object) => {
    const flags = usesOf(live.state().flags, key).map(({ flag }) => flag);
    if (flags.length === 0) {
      return (
        <p className="confirm-sentence">No flag names this segment: users see no difference.</p>
      );
    }
    return (
      <>
        <p className="confirm-sentence">
          The rules of {flags.join(", ")} name this segment: users may see a difference at once.
        </p>
        <FlipPreview api={api} operations={[{ kind: "segment", key, action, body }]} />
      </>
    );
  };

  const current = async (key: string): Promise<LiveSegment | undefined> => {
    const read = await segments.get(key);
    if (!read.ok || read.version === undefined) return undefined;
    const { include, exclude, ...rest } = read.value;
    const counts = { include: include.length, exclude: exclude.length };
    live.putSegment(key, { ...rest, counts }, read.version);
    return { segment: { ...rest, counts }, version: read.version };
  };

  const send = async (base: LiveSegment, patch: AboutSegment, given: Given): Promise<Outcome> => {
    const { key } = base.segment;
    const result = await segments.update(key, patch, { ifMatch: base.version, ...given });
    if (result.ok) {
      const done = { segment: result.value, version: result.version ?? base.version + 1 };
      live.putSegment(key, done.segment, done.version);
      notifyDone({
        title: key,
        message: "Segment saved.",
        undo: () => void send(done, aboutOf(base.segment), {}),
      });
      return "done";
    }
    const theirs = result.error.code === "PRECONDITION_FAILED" ? await current(key) : undefined;
    if (theirs) return resolveConflict(base, theirs, patch, given);
    notifyError(`${key} was not changed`, result.error);
    return failedOr(result.error);
  };

  const resolveConflict = async (
    base: LiveSegment,
    theirs: LiveSegment,
    patch: AboutSegment,
    given: Given,
  ): Promise<Outcome> => {
    // A change of the members alone is no conflict.
    if (isSameValue(aboutOf(base.segment), aboutOf(theirs.segment)))
      return send(theirs, patch, given);
    const applied = await ask({
      title: "Conflicting change",
      body: (
        <>
          <SegmentConflict theirs={theirs} mine={patch} />
          {reachOf(theirs.segment.key, "patch", patch)}
        </>
      ),
      confirmLabel: "Apply my change",
      cancelLabel: "Keep theirs",
    });
    if (applied === undefined) return "cancelled";
    return applied ? send(theirs, patch, given) : "theirs";
  };

  return {
    async create(segment, given) {
      const result = await segments.create(segment, given);
      if (!result.ok) return sayProposed(result);
      live.putSegment(segment.key, result.value, result.version ?? 1);
      notifyDone({ title: segment.key, message: "Created. Add people, or a condition." });
      return result;
    },

    async change(base, patch) {
      const { key } = base.segment;
      if (isSameValue({ ...aboutOf(base.segment), ...patch }, aboutOf(base.segment))) return "done";
      const given = await askReason({
        title: `Change ${key} in ${environment.name}?`,
        // The description alone changes nobody.
        body: reachOf(key, "patch", isSameValue(patch.when, base.segment.when) ? {} : patch),
        confirmLabel: "Change segment",
      });
      return given === undefined ? "cancelled" : send(base, patch, given);
    },

    async changeMembers({ segment: { key } }, { list, verb, members }, { onProgress, signal }) {
      const what =
        verb === "add"
          ? `Add ${peopleOf(members.length)} to the ${list} list of ${key}`
          : `Remove ${peopleOf(members.length)} from the ${list} list of ${key}`;
      const given = await askReason({
        title: `${what} in ${environment.name}?`,
        body: reachOf(key, "members", { [list]: { [verb]: members } }),
        confirmLabel: verb === "add" ? "Add" : "Remove",
        danger: verb === "remove",
        // A search may find more than a person sees.
        everywhere: verb === "remove" && members.length > 1,
      });
      if (given === undefined) return "cancelled";
      let done = 0;
      let proposed: ManagementError | undefined;
      for (const part of partsOf({ [list]: { [verb]: members } })) {
        if (signal.aborted) break;
        const result = await segments.changeMembers(key, part, given);
        if (result.ok) live.putSegment(key, result.value, result.version ?? 1);
        else if (proposedAt(result.error) !== undefined) proposed = result.error;
        else {
          const title = `${formatNumber(done)} of ${peopleOf(members.length)} were saved in ${key}`;
          notifyError(title, result.error);
          return "failed";
        }
        done += part[list]?.[verb]?.length ?? 0;
        onProgress(done);
      }
      if (proposed !== undefined) {
        notifyError(key, proposed);
        return "proposed";
      }
      const undone = members.slice(0, done);
      notifyDone({
        title: key,
        message: `${peopleOf(done)} ${verb === "add" ? "added" : "removed"}.`,
        // What is short enough for one request; the rest is done on the page again.
        ...(partsOf({ [list]: { [verb]: undone } }).length === 1 && {
          undo: () =>
            void segments
              .changeMembers(key, { [list]: { [verb === "add" ? "remove" : "add"]: undone } })
              .then((back) => {
                if (!back.ok) notifyError(`${key} was not changed back`, back.error);
              }),
        }),
      });
      return "done";
    },

    async remove(base) {
      const { key, counts } = base.segment;
      const uses = usesOf(live.state().flags, key);
      if (uses.length > 0) {
        await ask({
          title: `${key} cannot be deleted yet`,
          body: (
            <p className="confirm-sentence">
              Rules of these flags name it: {uses.map(({ flag }) => flag).join(", ")}. Take it out
              of them first.
            </p>
          ),
          confirmLabel: "Close",
        });
        return false;
      }
      const given = await askReason({
        everywhere: true,
        title: `Delete the segment ${key} from ${environment.name}?`,
        body: (
          <p className="confirm-sentence">
            No flag names it. Its condition and the lists with{" "}
            {peopleOf(counts.include + counts.exclude)} are gone; they stay in its history.
          </p>
        ),
        confirmLabel: "Delete segment",
        danger: true,
        ...(isProduction && { typed: key }),
      });
      if (given === undefined) return false;
      const result = await segments.delete(key, { ifMatch: base.version, ...given });
      if (result.ok) {
        live.putSegment(key, null, base.version + 1);
        notifyDone({ title: key, message: "Deleted." });
        return true;
      }
      if (result.error.code === "PRECONDITION_FAILED") await current(key);
      notifyError(`${key} was not deleted`, result.error);
      return false;
    },
  };
};

export const useSegmentEdits = (): SegmentEdits => {
  const api = useApi();
  const live = useLive();
  const ask = useConfirm();
  const askReason = useReason();
  return useMemo(() => createEdits(api, live, ask, askReason), [api, live, ask, askReason]);
};
