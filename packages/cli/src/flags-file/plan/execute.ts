// Executes the plan of an import or a promotion: shows it, confirms for confirmation, applies it, and reports each result.
import type { Change, Plan } from "@halyard/core/plan/plan";
import { applyChanges, type Outcome } from "@halyard/sdk/apply-plan";
import type { ManagementError } from "@halyard/sdk/management";
import { proposeChanges } from "@halyard/sdk/propose-plan";
import {
  type Connection,
  failureOf,
  messageFor,
  proposedText,
} from "../../server-connection/connection.ts";
import type { Place } from "../../server-connection/place.ts";
import { confirm, isAtTerminal } from "../../terminal/ask.ts";
import { exitCodeOf, exitCodes } from "../../terminal/exit-codes.ts";
import {
  CommandFailed,
  print,
  printAside,
  printJson,
  withoutControls,
} from "../../terminal/output.ts";
import { createProgress } from "../../terminal/progress.ts";
import { asJson, countOf, countsInWords, linesOf, summaryOf } from "./show-plan.ts";
import { showPreviews } from "./show-preview.ts";

export interface ExecuteOptions {
  readonly dryRun?: boolean;
  /** The options for a preview of the impact in a dry run. */
  readonly preview?: boolean;
  readonly exitCode?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface Task {
  readonly connection: Connection;
  /** Where the changes are applied. */
  readonly place: Place;
  readonly plan: Plan;
  readonly options: ExecuteOptions;
  /** The label of the progress display, such as Importing. */
  readonly doing: string;
  /** Ask for confirmation even if nothing is deleted. */
  readonly confirms: boolean;
  /** Whether there are changes other than flags and segments. */
  readonly hasMore?: boolean;
  /** Runs after the plan, unless it ended early. */
  readonly more?: () => Promise<More>;
}

export interface More {
  /** Added to the JSON output. */
  readonly report: object;
  readonly failure?: CommandFailed | undefined;
}

/** Longer plans are cut for readability. --dry-run and --json show everything. */
const maxLines = 100;

const showPlan = (plan: Plan, dryRun: boolean): void => {
  const lines = linesOf(plan.changes);
  const shown = dryRun || lines.length <= maxLines ? lines : lines.slice(0, maxLines);
  if (shown.length > 0) print(shown.join("\n"));
  const hidden = lines.length - shown.length;
  if (hidden > 0) print(`  … and ${hidden} more (--dry-run shows all)`);
};

const nothingToChange = ({ flags, segments }: Plan["unchanged"], where: string): string => {
  if (flags + segments === 0) return `Nothing to change ${where}: there are no flags.`;
  if (flags === 1 && segments === 0) return `Nothing to change ${where}: the flag is up to date.`;
  return `Nothing to change ${where}: all ${countsInWords(flags, segments)} are up to date.`;
};

/** The number of flags and segments in words. */
const inWords = (changes: readonly Change[]): string => {
  const segments = changes.filter((change) => change.of === "segment").length;
  return countsInWords(changes.length - segments, segments);
};

const atStart = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const apply = async ({ connection, doing }: Task, changes: readonly Change[]) => {
  const progress = createProgress(doing);
  let hasWaited = false;
  try {
    return await applyChanges(connection.management, changes, {
      onProgress: (done) => progress.at(done, changes.length),
      onWait(milliseconds) {
        if (hasWaited) return;
        hasWaited = true;
        printAside(
          `The server limits requests per minute: continuing in ${Math.ceil(milliseconds / 1_000)} s, and again until everything is done.`,
        );
      },
    });
  } finally {
    progress.end();
  }
};

const messageOf = (outcome: Outcome): string | undefined => {
  if (outcome.kind === "conflict") return outcome.message;
  return outcome.kind === "failed" ? messageFor(outcome.error) : undefined;
};

const outcomeText = (
  changes: readonly Change[],
  outcomes: readonly Outcome[],
  where: string,
): string => {
  const done = changes.filter((_, index) => outcomes[index]?.kind === "done");
  const counts = [
    [countOf(done, "create"), "created"],
    [countOf(done, "update"), "changed"],
    [countOf(done, "delete"), "deleted"],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return parts.length === 0
    ? `Nothing was changed ${where}.`
    : `Done: ${parts.join(", ")} ${where}.`;
};

/** The failure to report: errors first, then impossible changes, then conflicts. */
const failureAfter = (
  { connection, plan }: Task,
  changes: readonly Change[],
  outcomes: readonly Outcome[],
): CommandFailed | undefined => {
  const errors: ManagementError[] = outcomes.flatMap((outcome) =>
    outcome.kind === "failed" ? [outcome.error] : [],
  );
  const untried = outcomes.filter(({ kind }) => kind === "untried").length;
  const [first] = errors;
  if (first !== undefined && untried > 0) {
    return new CommandFailed(
      `${failureOf(connection, first).message} ${untried} of ${changes.length} changes were not attempted. Run the same command again to continue.`,
      exitCodeOf(first.code),
      { code: first.code },
    );
  }
  if (first !== undefined) {
    return new CommandFailed(
      `${errors.length} of ${changes.length} changes failed; the first: ${failureOf(connection, first).message}`,
      isOneKind(errors) ? exitCodeOf(first.code) : exitCodes.failed,
      { code: first.code },
    );
  }
  const impossible = countOf(plan.changes, "retype");
  if (impossible > 0) return impossibleFailure(impossible);
  const conflicts = changes.filter((_, index) => outcomes[index]?.kind === "conflict");
  if (conflicts.length === 0) return undefined;
  return new CommandFailed(
    `Someone else changed ${inWords(conflicts)}, so ${conflicts.length === 1 ? "it was" : "they were"} not updated. Run the same command again to see the difference and apply it.`,
    exitCodes.conflict,
  );
};

const isOneKind = (errors: readonly ManagementError[]): boolean =>
  errors.every(({ code }) => code === errors[0]?.code);

const impossibleFailure = (count: number): CommandFailed =>
  new CommandFailed(
    `${count === 1 ? "One flag has" : `${count} flags have`} a different type in the target, which is fixed at creation. Delete the flag in the target first, or rename it in the source.`,
  );

/** For protected environments. Webhooks of the file are not part of a change request. */
const propose = async (
  { connection, place, options, more }: Task,
  changes: readonly Change[],
): Promise<void> => {
  const { management, reason } = connection;
  const results = await proposeChanges(management, changes, reason);
  const proposed = results.flatMap((result) => (result.ok ? [result.value] : []));
  const refused = results.find((result) => !result.ok);
  if (!options.json) {
    for (const request of proposed) print(withoutControls(proposedText(connection, request)));
  }
  const done = refused ? undefined : await more?.();
  if (options.json) printJson({ ...place.json, proposed, ...done?.report });
  if (refused && !refused.ok) throw failureOf(connection, refused.error);
  if (done?.failure) throw done.failure;
};

export const execute = async (task: Task): Promise<void> => {
  const { plan, options, place } = task;
  const { preview = false, dryRun = preview, json = false, yes } = options;
  if (options.exitCode && !dryRun) {
    throw new CommandFailed("--exit-code needs --dry-run.", exitCodes.usage);
  }
  const changes = plan.changes.filter(({ kind }) => kind !== "retype");
  const impossible = plan.changes.length - changes.length;
  const wouldChange = changes.length > 0 || task.hasMore === true;
  if (!json) {
    showPlan(plan, dryRun);
    print(
      plan.changes.length === 0
        ? nothingToChange(plan.unchanged, place.text)
        : `${summaryOf(plan)} ${place.text}.`,
    );
  }
  const printReport = (outcomes: readonly Outcome[] | undefined, more: object) => {
    if (!json) return;
    let index = 0;
    const reported = plan.changes.map((change) => {
      if (change.kind === "retype") return { ...asJson(change), outcome: "impossible" };
      const outcome = outcomes?.[index++];
      const message = outcome && messageOf(outcome);
      return {
        ...asJson(change),
        outcome: outcome?.kind ?? "planned",
        ...(message !== undefined && { message }),
      };
    });
    const { flags, segments } = plan.unchanged;
    const unchanged = flags + segments;
    printJson({ ...place.json, dryRun, changes: reported, unchanged, ...more });
  };

  if (dryRun) {
    const previews = await showPreviews(task.connection, changes, json);
    printReport(undefined, { ...(await task.more?.())?.report, ...previews });
    if (impossible > 0) throw impossibleFailure(impossible);
    if (wouldChange && options.exitCode) process.exitCode = exitCodes.different;
    return;
  }

  const deletions = changes.filter(({ kind }) => kind === "delete");
  if (deletions.length > 0) {
    await confirm(`${atStart(inWords(deletions))} will be deleted ${place.text}. Continue?`, yes);
  } else if (wouldChange && (place.confirms || (task.confirms && isAtTerminal()))) {
    await confirm(
      `Apply ${changes.length === 1 ? "this change" : "these changes"} ${place.text}?`,
      yes,
    );
  }
  if (place.proposes && changes.length > 0) return propose(task, changes);
  const outcomes = await apply(task, changes);
  const failed = failureAfter(task, changes, outcomes);
  const wasStopped = outcomes.some(({ kind }) => kind === "untried");
  const more = wasStopped ? undefined : await task.more?.();
  printReport(outcomes, more?.report ?? {});
  if (!json && changes.length > 0) {
    print(outcomeText(changes, outcomes, place.text));
    for (const [index, outcome] of outcomes.entries()) {
      const message = messageOf(outcome);
      if (message !== undefined) {
        const change = changes[index];
        const name = change?.of === "segment" ? `segment ${change.key}` : change?.key;
        printAside(`halyard: ${outcome.kind}: ${name}: ${message}`);
      }
    }
  }
  const failure = failed ?? more?.failure;
  if (failure) throw failure;
};
