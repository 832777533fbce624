// Every way to change flags from the page: confirmed in production, shown at once, taken back when refused, undone on request.
import type { Flag, FlagPatch, NewFlag, Result } from "@halyard/sdk";
import { useMemo } from "react";
import { type Question, useConfirm } from "../../components/feedback/confirm.tsx";
import { notifyDone, notifyError } from "../../components/feedback/notify.tsx";
import type { Live, LiveFlag } from "../../live.ts";
import { useLive } from "../../live-provider.tsx";
import { type Api, useApi } from "../../session.tsx";
import { Conflict } from "./conflict.tsx";
import {
  isEmptyPatch,
  patchBetween,
  reachOf,
  settingOf,
  summaryOf,
  withPatch,
} from "./flag-change.ts";
import { FlagDiff } from "./flag-diff.tsx";

export type Outcome =
  | "done"
  /** Not confirmed. */
  | "left"
  /** Refused by the server or not got through: the person was told. */
  | "failed"
  /** Somebody else was first, and theirs was taken. */
  | "theirs";

export interface FlagEdits {
  /** `base` is what the person saw when deciding. */
  change(base: LiveFlag, patch: FlagPatch): Promise<Outcome>;
  /** The same after a look at the difference, wherever it is. */
  setBack(base: LiveFlag, to: Flag): Promise<Outcome>;
  create(flag: NewFlag): Promise<Result<Flag>>;
  remove(base: LiveFlag): Promise<boolean>;
}

type Ask = (question: Question) => Promise<boolean>;

const Sentences = ({ before, after }: { readonly before: Flag; readonly after: Flag }) => (
  <>
    {summaryOf(before, after).map((sentence) => (
      <p key={sentence} className="confirm-sentence">
        {sentence}
      </p>
    ))}
  </>
);

const takesAway = (before: Flag, after: Flag): boolean => reachOf(after) < reachOf(before);

const createEdits = (api: Api, live: Live, ask: Ask): FlagEdits => {
  const { management, environment, isProduction } = api;

  const send = async (base: LiveFlag, patch: FlagPatch): Promise<Outcome> => {
    const { key } = base.flag;
    const forget = live.assume(key, withPatch(base.flag, patch));
    const result = await management.flags.update(key, patch, { ifMatch: base.version });
    if (result.ok) live.put(key, result.value, result.version ?? base.version + 1);
    forget();
    if (result.ok) {
      const done: LiveFlag = { flag: result.value, version: result.version ?? base.version + 1 };
      const back = patchBetween(done.flag, base.flag);
      notifyDone({
        title: key,
        message: `Now ${settingOf(done.flag)}.`,
        ...(!isEmptyPatch(back) && { undo: () => void send(done, back) }),
      });
      return "done";
    }
    const { code, current, currentVersion } = result.error;
    if (code === "PRECONDITION_FAILED" && current && currentVersion !== undefined) {
      live.put(key, current, currentVersion);
      return settleConflict({ flag: current, version: currentVersion }, patch);
    }
    notifyError(`${key} was not changed`, result.error);
    return "failed";
  };

  const settleConflict = async (theirs: LiveFlag, patch: FlagPatch): Promise<Outcome> => {
    const mine = withPatch(theirs.flag, patch);
    if (isEmptyPatch(patchBetween(theirs.flag, mine))) {
      notifyDone({ title: theirs.flag.key, message: "Somebody else had just done the same." });
      return "done";
    }
    const onTop = await ask({
      title: "Two changes at the same time",
      body: <Conflict theirs={theirs.flag} theirVersion={theirs.version} mine={mine} />,
      confirmLabel: "Apply mine on top",
      cancelLabel: "Take theirs",
      danger: isProduction && takesAway(theirs.flag, mine),
    });
    return onTop ? send(theirs, patch) : "theirs";
  };

  return {
    async change(base, patch) {
      const after = withPatch(base.flag, patch);
      const wanted = patchBetween(base.flag, after);
      if (isEmptyPatch(wanted)) return "done";
      const confirmed =
        !isProduction ||
        (await ask({
          title: `Change ${base.flag.key} in ${environment.name}?`,
          body: <Sentences before={base.flag} after={after} />,
          confirmLabel: "Change it",
          danger: takesAway(base.flag, after),
        }));
      return confirmed ? send(base, wanted) : "left";
    },

    async setBack(base, to) {
      const wanted = patchBetween(base.flag, to);
      const after = withPatch(base.flag, wanted);
      const confirmed = await ask({
        title: `Set ${base.flag.key} back in ${environment.name}?`,
        body: (
          <>
            <FlagDiff before={base.flag} after={after} />
            <Sentences before={base.flag} after={after} />
          </>
        ),
        confirmLabel: "Set it back",
        danger: isProduction && takesAway(base.flag, after),
      });
      return confirmed ? send(base, wanted) : "left";
    },

    async create(flag) {
      const result = await management.flags.create(flag);
      if (!result.ok) return result;
      live.put(flag.key, result.value, result.version ?? 1);
      notifyDone({ title: flag.key, message: "Created. It is off until you turn it on." });
      return result;
    },

    async remove(base) {
      const { key } = base.flag;
      const gone: Flag = { ...base.flag, enabled: false };
      const confirmed = await ask({
        title: `Delete ${key} from ${environment.name}?`,
        body: (
          <>
            <p className="confirm-sentence">
              Programs that ask for it get their own fallback from now on. It cannot be undone; the
              history stays.
            </p>
            <Sentences before={base.flag} after={gone} />
          </>
        ),
        confirmLabel: "Delete the flag",
        danger: true,
        ...(isProduction && { typed: key }),
      });
      if (!confirmed) return false;
      const result = await management.flags.delete(key, { ifMatch: base.version });
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
  return useMemo(() => createEdits(api, live, ask), [api, live, ask]);
};
