// Carries out plans for every page: progress, what failed, and Undo. Above the pages, because a plan outlives the page that began it.
import { reverse } from "@halyard/core/plan/reverse";
import type { Outcome } from "@halyard/sdk/apply-plan";
import { useQueryClient } from "@tanstack/react-query";
import { createContext, lazy, type ReactNode, Suspense, use, useCallback, useState } from "react";
import { createSessionFetch, createSessionManagement } from "../api.ts";
import { notifyDone, notifyError, notifyProposed } from "../components/feedback/notify.tsx";
import { loadOrNotify } from "../pages/load-page.tsx";
import { addressOfRequest } from "../proposal.ts";
import { useSession } from "../session.tsx";
import { countsOf } from "./plan-words.ts";
import type { Run, Running } from "./run.ts";

type RunPlan = (run: Run) => Promise<void>;
const RunPlanContext = createContext<RunPlan | undefined>(undefined);

const loadDialog = () => import("./run-dialog.tsx");
const RunDialog = lazy(async () => ({ default: (await loadDialog()).RunDialog }));
/** All that a run needs: once it has begun, nothing is missing. */
const loadRun = async () => {
  const [plan] = await Promise.all([import("@halyard/sdk/apply-plan"), loadDialog()]);
  return plan;
};

/** What is quicker needs no dialog. */
const slowAfter = 400;
/** There is more to look at than after one change. */
const undoFor = 30_000;

/** Takes back what this run did; what others have changed since then stays. */
const undoOf = (run: Run, outcomes: readonly Outcome[]): Run | undefined => {
  if (run.isUndo === true) return undefined;
  const versions = new Map<string, number>();
  const changes = run.changes.flatMap((change, index) => {
    const outcome = outcomes[index];
    const back = reverse(change);
    if (outcome?.kind !== "done" || outcome.version === undefined || back === undefined) return [];
    if (change.of === "flag") versions.set(change.key, outcome.version);
    return [back];
  });
  if (changes.length === 0) return undefined;
  const { api } = run;
  const { name } = api.environment;
  return {
    doing: `Undoing in ${name}`,
    done: `Undone in ${name}`,
    api,
    changes,
    versions,
    isUndo: true,
  };
};

export const RunPlanProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient();
  const { use: sessionUse } = useSession();
  const [running, setRunning] = useState<Running | undefined>();
  const [opened, setOpened] = useState(false);

  const run = useCallback<RunPlan>(
    async (task) => {
      const { api, changes, versions, reason } = task;
      if (api.proposes) {
        const plan = await loadOrNotify(() => import("@halyard/sdk/propose-plan"));
        if (plan === undefined) return;
        const results = await plan.proposeChanges(api.management, changes, reason);
        for (const each of results) {
          if (each.ok) notifyProposed(addressOfRequest(each.value));
          else notifyError(`${task.doing} was not proposed`, each.error);
        }
        return void queries.invalidateQueries({ queryKey: [api.environment.name] });
      }
      const loaded = await loadOrNotify(loadRun);
      if (loaded === undefined) return;
      const stop = new AbortController();
      const update = (change: Partial<Running>) =>
        setRunning((before) => before && { ...before, ...change });
      setRunning({ ...task, finished: 0, stop: () => stop.abort() });
      const timer = setTimeout(() => setOpened(true), slowAfter);
      const fetch = createSessionFetch(api.environment.name, sessionUse, {
        onAsk() {
          clearTimeout(timer);
          setOpened(false);
        },
        onAnswer: () => setOpened(true),
      });
      const management = createSessionManagement(fetch, {
        retryUntil: stop.signal,
        ...(reason !== undefined && { reason }),
      });
      const outcomes = await loaded.applyChanges(management, changes, {
        versions,
        signal: stop.signal,
        onProgress: (finished) => update({ finished, wait: undefined }),
        onWait: (wait) => update({ wait }),
      });
      clearTimeout(timer);
      void queries.invalidateQueries({ queryKey: [api.environment.name, "snapshot"] });
      update({ outcomes });
      const undo = undoOf(task, outcomes);
      const isDone = outcomes.every(({ kind }) => kind === "done");
      setOpened(!isDone);
      if (!isDone) return;
      notifyDone({
        title: task.done,
        message: `${countsOf(changes)}.`,
        ...(undo && { undo: () => void run(undo), autoClose: undoFor }),
      });
    },
    [queries, sessionUse],
  );

  const undo = running?.outcomes && undoOf(running, running.outcomes);
  return (
    <RunPlanContext value={run}>
      {children}
      {running !== undefined && (
        <Suspense>
          <RunDialog
            running={running}
            opened={opened}
            onClose={() => setOpened(false)}
            {...(undo && { onUndo: () => void run(undo) })}
          />
        </Suspense>
      )}
    </RunPlanContext>
  );
};

export const useRunPlan = (): RunPlan => {
  const run = use(RunPlanContext);
  if (run === undefined) throw new Error("useRunPlan outside of RunPlanProvider");
  return run;
};
