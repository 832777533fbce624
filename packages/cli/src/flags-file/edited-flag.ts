// A flag as YAML for editing, and the parser that reports every error in the edited text.
import { isDeepStrictEqual } from "node:util";
import { memberOf, patchBetween } from "@halyard/core/difference";
import { arrange } from "@halyard/core/flags/arrange";
import { applyPatch } from "@halyard/core/flags/change";
import { type Flag, membersOf, type PatchFlag } from "@halyard/core/flags/registry";
import { checkFlag } from "./file-flag.ts";
import { isFields, textOf } from "./loose-values.ts";

/** Without fields that this version does not support. They stay unchanged. */
const knownMembers = (flag: Flag): readonly string[] => [
  ...["key", "type", "enabled", "description"],
  ...membersOf(flag.type).map(([name]) => name),
];

export const writeFlag = async (flag: Flag): Promise<string> => {
  const { stringify } = await import("yaml");
  const shown = knownMembers(flag).map((name) => [name, memberOf(flag, name)]);
  return stringify(arrange(Object.fromEntries(shown)), { lineWidth: 0 });
};

/** The number of comment lines at the start. */
export const withoutComments = (text: string): string =>
  text.replace(/^(?:[ \t]*(?:#.*)?\r?\n)+/, "");

export const isEmptyText = (text: string): boolean =>
  text.split("\n").every((line) => /^\s*(?:#|$)/.test(line));

const comment = (text: string): string => (text === "" ? "#" : `# ${text}`);

export const asComments = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => line.split("\n"))
    .map((line) => `${comment(line)}\n`)
    .join("");

export type ReadFlag =
  | { readonly ok: true; readonly after: Flag; readonly patch: PatchFlag }
  | { readonly ok: false; readonly mistakes: readonly string[] };

const refused = (...mistakes: readonly string[]): ReadFlag => ({ ok: false, mistakes });

/** Applies the edited text to the flag. */
export const readEditedFlag = async (text: string, before: Flag): Promise<ReadFlag> => {
  const { parseDocument } = await import("yaml");
  const parsed = parseDocument(text, { prettyErrors: false });
  if (parsed.errors.length > 0) return refused(...parsed.errors.map(({ message }) => message));
  let value: unknown;
  try {
    value = parsed.toJS();
  } catch (error) {
    return refused((error as Error).message);
  }
  if (!isFields(value))
    return refused("The text must contain the fields of a flag with their values.");
  const fixed = ["key", "type", "valueType"].filter(
    (name) => !isDeepStrictEqual(value[name], memberOf(before, name)),
  );
  if (fixed.length > 0) {
    return refused(
      ...fixed.map(
        (name) =>
          `${name} is fixed at creation: it must stay ${textOf(memberOf(before, name)) ?? "away"}.`,
      ),
    );
  }
  const mistakes: string[] = [];
  checkFlag(value, (_field, message) => mistakes.push(message.replace(/^"([^"]+)"/, "$1")));
  if (mistakes.length > 0) return refused(...mistakes);
  const after = arrange({ ...value, description: value.description ?? null });
  const patch = patchBetween(before, after);
  const applied = applyPatch(before, patch);
  return applied.ok
    ? { ok: true, after: applied.flag, patch }
    : refused(...applied.errors.map(({ place, message }) => `${place} ${message}`));
};
