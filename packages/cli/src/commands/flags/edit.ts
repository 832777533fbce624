// halyard flags edit: opens a flag as YAML in an editor.
import { choiceOf, type Flag } from "@halyard/core/flags/registry";
import type { ManagementError } from "@halyard/sdk/management";
import type { Command } from "commander";
import {
  asComments,
  isEmptyText,
  type ReadFlag,
  readEditedFlag,
  withoutComments,
  writeFlag,
} from "../../flags-file/edited-flag.ts";
import { linesOf } from "../../flags-file/plan/show-plan.ts";
import {
  type Connection,
  connect,
  failureOf,
  reasonedCommand,
} from "../../server-connection/connection.ts";
import { readFlag, type VersionedFlag } from "../../server-connection/flag-change.ts";
import { type Place, placeOf } from "../../server-connection/place.ts";
import { confirm, isAtTerminal } from "../../terminal/ask.ts";
import { createEditedText, type EditedText } from "../../terminal/editor.ts";
import { withExamples } from "../../terminal/examples.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { actorInLine, changesInOneLine, onText, reachText } from "../../terminal/flag-text.ts";
import { CommandFailed, inOneLine, print, printAside, printJson } from "../../terminal/output.ts";
import { movesBetween, movesText, sharesOf } from "../../terminal/shares.ts";
import { type ChangeOptions, shown } from "./change.ts";

export const addEditCommand = (group: Command): void => {
  const edit = reasonedCommand(group.command("edit"))
    .description("edit a flag as YAML in your editor, review the difference, and apply it")
    .argument("<flag>", "the flag's key")
    .addHelpText(
      "after",
      `
Uses the editor in VISUAL or EDITOR. The change is applied only if the flag has not changed meanwhile.`,
    )
    .action(editFlag);
  withExamples(
    edit,
    "halyard flags edit new-checkout",
    "EDITOR=nano halyard flags edit new-checkout",
  );
};

type Edited = ReadFlag & { readonly ok: true };

/** Opens the editor until the text is valid. Undefined if the user leaves without a change. */
const editUntilRight = async (
  text: EditedText,
  { flag, version }: VersionedFlag,
  { text: where }: Place,
): Promise<Edited | undefined> => {
  const head = [
    `The flag "${flag.key}" ${where}, version ${version}.`,
    "Save the file and close the editor to see the difference.",
    "To cancel, close the editor without saving, or empty the file.",
    "",
  ];
  const original = await writeFlag(flag);
  let offered = original;
  let mistakes: readonly string[] = [];
  for (;;) {
    const complaints =
      mistakes.length === 0
        ? []
        : ["Errors to fix:", ...mistakes.map((mistake) => `  ${inOneLine(mistake)}`), ""];
    const saved = withoutComments(await text.edit(asComments([...complaints, ...head]) + offered));
    if (isEmptyText(saved) || saved === original) return undefined;
    if (saved === offered) {
      throw new CommandFailed(
        `The text still has errors, so nothing was changed. Your text is kept in ${text.file}.\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`,
        exitCodes.usage,
      );
    }
    const read = await readEditedFlag(saved, flag);
    if (read.ok) return Object.keys(read.patch).length === 0 ? undefined : read;
    ({ mistakes } = read);
    offered = saved;
  }
};

/** The effect on users. */
const meaningOf = (before: Flag, after: Flag): readonly string[] => {
  const lines: string[] = [];
  if (before.enabled !== after.enabled) {
    lines.push(after.enabled ? `It will be ${onText(after)}.` : "It will be off for everyone.");
  }
  const [old, now] = [reachText(before), reachText(after)];
  if (old !== now) lines.push(`Reach: ${old} → ${now}.`);
  const isRehashed = before.bucketBy !== after.bucketBy || before.bucketSeed !== after.bucketSeed;
  if (isRehashed) lines.push("Percentages and splits will reach different users.");
  const moves = movesBetween(
    sharesOf(choiceOf(before).otherwise),
    sharesOf(choiceOf(after).otherwise),
  );
  if (moves.length > 0 && !isRehashed) {
    const whom = after.rules === undefined ? "" : "For users that match no rule: ";
    lines.push(`${whom}${movesText(moves)}`);
  }
  return lines.map(inOneLine);
};

const conflictFailure = async (
  { management }: Connection,
  { flag: before }: VersionedFlag,
  { current, currentVersion }: ManagementError,
  file: string,
): Promise<CommandFailed> => {
  const history = await management.flags.history(before.key, { limit: 1 });
  const last = history.ok ? history.value[0] : undefined;
  const who = last === undefined ? "" : ` by ${actorInLine(last.actor)} at ${last.createdAt}`;
  const what = current === undefined ? "" : `: ${changesInOneLine(before, current)}`;
  return new CommandFailed(
    `The flag "${before.key}" was changed meanwhile (version ${currentVersion ?? "unknown"}${who})${what}. Your change was not sent. Your text is kept in ${file}.`,
    exitCodes.conflict,
    { code: "PRECONDITION_FAILED" },
  );
};

const editFlag = async (key: string, options: ChangeOptions): Promise<void> => {
  const connection = connect(options);
  const [current, place] = await Promise.all([readFlag(connection, key), placeOf(connection)]);
  const text = createEditedText(`${key}.yaml`);
  const edited = await editUntilRight(text, current, place);
  const { flag: before, version } = current;
  if (edited === undefined) {
    text.remove();
    if (options.json) return printJson({ ...before, version, changed: false, ...place.json });
    return print(`${key} is unchanged ${place.text} (version ${version}).`);
  }
  const { after, patch } = edited;
  const say = options.json ? printAside : print;
  const difference = linesOf([{ of: "flag", kind: "update", key, before, after, patch }]);
  for (const line of [...difference, ...meaningOf(before, after)]) say(line);
  if (place.confirms || isAtTerminal()) {
    await confirm(`Change ${key} ${place.text}?`, options.yes).catch((error: unknown) => {
      printAside(`Your text is kept in ${text.file}.`);
      throw error;
    });
  }
  const sent = await connection.management.flags.update(key, patch, { ifMatch: version });
  if (!sent.ok) {
    if (sent.error.code === "PRECONDITION_FAILED") {
      throw await conflictFailure(connection, current, sent.error, text.file);
    }
    printAside(`Your text is kept in ${text.file}.`);
    throw failureOf(connection, sent.error);
  }
  text.remove();
  const changed = { flag: sent.value, version: sent.version ?? version, before, changed: true };
  if (options.json) return printJson(shown(changed, place));
  print(`Changed ${key} ${place.text} (version ${changed.version}).`);
};
