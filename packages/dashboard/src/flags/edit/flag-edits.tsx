// Every way to change flags from the page: confirmed in production, shown immediately, reverted when the server refuses, undone on request.
import { isSameFlag, patchBetween } from "@halyard/core/difference";
import { type CreateFlag, type Flag, type PatchFlag, reachOf } from "@halyard/core/flags/registry";
import type { ManagementError, NewOperation, Result } from "@halyard/sdk/management";
import { useMemo } from "react";
import { type Ask, useConfirm } from "../../components/feedback/confirm.tsx";
import { notifyDone, notifyError, sayProposed } from "../../components/feedback/notify.tsx";
import { type AskReason, type Given, useReason } from "../../components/feedback/reason.tsx";
import { FlipPreview } from "../../flips/flip-preview.tsx";
import type { Live, LiveFlag } from "../../live.ts";
import { useLive } from "../../live-provider.tsx";
import { proposedAt } from "../../proposal.ts";
import { type Api, useApi } from "../../session.tsx";
import { Conflict } from "./conflict.tsx";
import { Difference, isSameTargeting } from "./difference.tsx";
import { definitionOf, doneOf, isEmptyPatch, summaryOf, withPatch } from "./flag-change.ts";
import { rememberOwn } from "./own-versions.ts";

export type Outcome =
  | "done"
  | "cancelled"
  /** The server refused it or could not be reached; a notification says so. */
  | "failed"
  /** Somebody else was first, and their version is kept. */
  | "theirs"
  /** Nothing has changed yet: somebody else must approve it. */
  | "proposed";

/** After any other outcome a draft stays, to be saved again or discarded. */
export const isFinished = (outcome: Outcome): boolean =>
  outcome === "done" || outcome === "theirs" || outcome === "proposed";

export const failedOr = (error: ManagementError): Outcome =>
  proposedAt(error) === undefined ? "failed" : "proposed";

type OnRefused = (error: ManagementError) => void;

export interface FlagEdits {
  /** `base` is what the person saw when deciding. `onRefused` shows what is wrong with the patch, in place of a notification. */
  change(base: LiveFlag, patch: PatchFlag, onRefused?: OnRefused): Promise<Outcome>;
  /** Back to an earlier version, confirmed in every environment. */
  restore(base: LiveFlag, to: Flag): Promise<Outcome>;
  create(flag: CreateFlag, given?: Given): Promise<Result<Flag>>;
  /** Creates it again, as it was in another environment or before it was deleted, but off. */
  recreate(flag: Flag): Promise<void>;
  remove(base: LiveFlag): Promise<boolean>;
}

const Sentences = ({ before, after }: { readonly before: Flag; readonly after: Flag }) => (
  <>
    {summaryOf(before, after).map((sentence) => (
      <p key={sentence} className="confirm-sentence">
        {sentence}
      </p>
    ))}
  </>
);

const isRefusal = (code: ManagementError["code"]): boolean =>
  code === "VALIDATION_FAILED" || code === "CONFLICT";

const takesFromUsers = (before: Flag, after: Flag): boolean => reachOf(after) < reachOf(before);

const createEdits = (api: Api, live: Live, ask: Ask, askReason: AskReason): FlagEdits => {
  const { management, environment, isProduction, proposes } = api;

  const previewOf = ({ key }: Flag, action: NewOperation["action"], body?: PatchFlag) => (
    <FlipPreview api={api} operations={[{ kind: "flag", key, action, ...(body && { body }) }]} />
  );

  const send = async (
    base: LiveFlag,
    patch: PatchFlag,
    given: Given,
    onRefused?: OnRefused,
  ): Promise<Outcome> => {
    const { key } = base.flag;
    const revert = proposes ? () => {} : live.assume(key, withPatch(base.flag, patch));
    const result = await management.flags.update(key, patch, { ifMatch: base.version, ...given });
    if (result.ok) live.put(key, result.value, result.version ?? base.version + 1);
    revert();
    if (result.ok) {
      const done: LiveFlag = { flag: result.value, version: result.version ?? base.version + 1 };
      rememberOwn(environment.name, key, done.version);
      const back = patchBetween(done.flag, base.flag);
      notifyDone({
        title: key,
        message: doneOf(base.flag, done.flag),
        ...(!isEmptyPatch(back) && { undo: () => void send(done, back, {}) }),
      });
      return "done";
    }
    const { code, current, currentVersion } = result.error;
    if (code === "PRECONDITION_FAILED" && current && currentVersion !== undefined) {
      live.put(key, current, currentVersion);
      return resolveConflict({ flag: current, version: currentVersion }, patch, given, onRefused);
    }
    if (onRefused !== undefined && isRefusal(code)) onRefused(result.error);
    else notifyError(`${key} was not changed`, result.error);
    return failedOr(result.error);
  };

  const resolveConflict = async (
    theirs: LiveFlag,
    patch: PatchFlag,
    given: Given,
    onRefused?: OnRefused,
  ): Promise<Outcome> => {
    const mine = withPatch(theirs.flag, patch);
    if (isSameFlag(theirs.flag, mine)) {
      notifyDone({
        title: theirs.flag.key,
        message: "This change was already made.",
      });
      return "done";
    }
    const applied = await ask({
      title: "Conflicting change",
      body: (
        <>
          <Conflict theirs={theirs.flag} theirVersion={theirs.version} mine={mine} />
          {previewOf(mine, "patch", patch)}
        </>
      ),
      confirmLabel: "Apply my change",
      cancelLabel: "Keep theirs",
      danger: isProduction && takesFromUsers(theirs.flag, mine),
    });
    if (applied === undefined) return "cancelled";
    return applied ? send(theirs, patch, given, onRefused) : "theirs";
  };

  const create = async (flag: CreateFlag, given: Given = {}): Promise<Result<Flag>> => {
    const result = await management.flags.create(flag, given);
    if (!result.ok) return sayProposed(result);
    live.put(flag.key, result.value, result.version ?? 1);
    notifyDone({ title: flag.key, message: "Created. It stays off until you turn it on." });
    return result;
  };

  return {
    create,

    async recreate(flag) {
      const given = await askReason({
        title: `Create ${flag.key} again in ${environment.name}?`,
        body: <p className="confirm-sentence">It is off until you turn it on.</p>,
        confirmLabel: "Create flag",
      });
      if (given === undefined) return;
      const result = await create(definitionOf(flag), given);
      if (!result.ok && proposedAt(result.error) === undefined)
        notifyError(`${flag.key} was not created`, result.error);
    },

    async change(base, patch, onRefused) {
      const after = withPatch(base.flag, patch);
      const wanted = patchBetween(base.flag, after);
      if (isEmptyPatch(wanted)) return "done";
      const given = await askReason({
        title: `Change ${base.flag.key} in ${environment.name}?`,
        body: (
          <>
            {!isSameTargeting(base.flag, after) && <Difference before={base.flag} after={after} />}
            <Sentences before={base.flag} after={after} />
            {previewOf(base.flag, "patch", wanted)}
          </>
        ),
        confirmLabel: "Change flag",
        danger: takesFromUsers(base.flag, after),
      });
      return given === undefined ? "cancelled" : send(base, wanted, given, onRefused);
    },

    async restore(base, to) {
      const wanted = patchBetween(base.flag, to);
      const after = withPatch(base.flag, wanted);
      const given = await askReason({
        everywhere: true,
        title: `Restore this version of ${base.flag.key} in ${environment.name}?`,
        body: (
          <>
            <Difference before={base.flag} after={after} />
            <Sentences before={base.flag} after={after} />
            {previewOf(base.flag, "patch", wanted)}
          </>
        ),
        confirmLabel: "Restore",
        danger: isProduction && takesFromUsers(base.flag, after),
      });
      return given === undefined ? "cancelled" : send(base, wanted, given);
    },

    async remove(base) {
      const { key } = base.flag;
      const gone: Flag = { ...base.flag, enabled: false };
      const given = await askReason({
        everywhere: true,
        title: `Delete ${key} from ${environment.name}?`,
        body: (
          <>
            <p className="confirm-sentence">
              From now on your code gets its default value for this flag. You can restore the flag
              from its history. A restored flag is off.
            </p>
            <Sentences before={base.flag} after={gone} />
            {previewOf(base.flag, "delete")}
          </>
        ),
        confirmLabel: "Delete flag",
        danger: true,
        ...(isProduction && { typed: key }),
      });
      if (given === undefined) return false;
      const result = await management.flags.delete(key, { ifMatch: base.version, ...given });
      if (result.ok) {
        live.put(key, null, base.version + 1);
        notifyDone({ title: key, message: "Deleted." });
        return true;
      }
      const { current, currentVersion } = result.error;
      if (current && currentVersion !== undefined) live.put(key, current, currentVersion);
      notifyError(`${key} was not deleted`, result.error);
      return false;
    },
  };
};

export const useFlagEdits = (): FlagEdits => {
  const api = useApi();
  const live = useLive();
  const ask = useConfirm();
  const askReason = useReason();
  return useMemo(() => createEdits(api, live, ask, askReason), [api, live, ask, askReason]);
};
