// Reads a file of `halyard export`, and reports all errors in it, each with its line.
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed } from "../terminal/output.ts";
import { checkFields, quoted, type Report, trueOrFalse } from "./check-fields.ts";
import type { Document } from "./document.ts";
import { fileKinds, isNeeded, orderLists } from "./file-kinds.ts";
import { type FlagsFile, formatVersion } from "./flags-file.ts";
import { type Fields, isFields } from "./loose-values.ts";

interface ValidationError {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface CheckedList {
  readonly list: string;
  readonly kind: string;
  readonly check: (entry: Fields, report: Report) => void;
}

const checkWebhook = (entry: Fields, report: Report): void => {
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  const isEvents = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(isText);
  checkFields(
    entry,
    {
      url: ["the URL of the receiver", isText],
      events: ["a list of event names", isEvents],
      active: trueOrFalse,
      cloudEvents: trueOrFalse,
    },
    ["active", "cloudEvents"],
    report,
  );
};

const webhookList: CheckedList = { list: "webhooks", kind: "webhook", check: checkWebhook };

/** The path of a place such as `rules[2].when.op`. */
const stepsOf = (place: string): readonly (string | number)[] =>
  (place.match(/[^.[\]]+/g) ?? []).map((step) => (/^\d+$/.test(step) ? Number(step) : step));

const checkList = (
  list: unknown,
  { list: name, kind, check }: CheckedList,
  mistakes: ValidationError[],
): void => {
  if (!Array.isArray(list)) {
    mistakes.push({ path: [name], message: `"${name}" must be a list, not ${quoted(list)}` });
    return;
  }
  for (const [index, entry] of list.entries()) {
    if (!isFields(entry)) {
      const message = `an entry of "${name}" must be an object, not ${quoted(entry)}`;
      mistakes.push({ path: [name, index], message });
      continue;
    }
    const whose = typeof entry.key === "string" ? ` (${kind} ${quoted(entry.key)})` : "";
    check(entry, (field, message) =>
      mistakes.push({ path: [name, index, ...stepsOf(field)], message: message + whose }),
    );
  }
};

const checkDuplicates = (list: unknown, name: string, mistakes: ValidationError[]): void => {
  if (!Array.isArray(list)) return;
  const seen = new Set<unknown>();
  for (const [index, entry] of list.entries()) {
    const { key } = isFields(entry) ? entry : {};
    if (typeof key !== "string") continue;
    if (seen.has(key)) {
      mistakes.push({
        path: [name, index, "key"],
        message: `the key ${quoted(key)} is a duplicate`,
      });
    }
    seen.add(key);
  }
};

/** The product that probably wrote the file, in case --from is missing. */
const looksLike = (value: unknown): string | undefined => {
  const [first] = Array.isArray(value) ? value : [value];
  if (!isFields(first)) return undefined;
  if ("featureStrategies" in first) return "unleash";
  if ("items" in first || "environments" in first) return "launchdarkly";
  if ("feature_states" in first || ("name" in first && "enabled" in first)) return "flagsmith";
  if ("features" in first) return "growthbook";
  if (Array.isArray(first.flags)) return "flipt";
  if (isFields(first.flags)) return "flagd";
  const [flag] = Object.values(first);
  return isFields(flag) && "variations" in flag ? "go-feature-flag" : undefined;
};

/** Fails with all errors at once. */
export const readFlagsFile = async (document: Document): Promise<FlagsFile> => {
  const { name, value } = document;
  if (!isFields(value) || value.halyard === undefined) {
    const other = looksLike(value);
    throw new CommandFailed(
      `${name} is not a halyard export ("halyard: 1" is missing)${other === undefined ? "." : `; it looks like an export of ${other}: add --from ${other}.`}`,
    );
  }
  if (value.halyard !== formatVersion) {
    throw new CommandFailed(
      `${name} has format ${quoted(value.halyard)}; this version of halyard reads format ${formatVersion}. Use the version that wrote the file, or a newer one.`,
    );
  }
  const { webhooks } = value;
  const known = new Set<string>(["halyard", "webhooks", ...fileKinds.map(({ list }) => list)]);
  const mistakes: ValidationError[] = Object.keys(value)
    .filter((field) => !known.has(field))
    .map((field) => ({ path: [field], message: `"${field}" is not a known field` }));
  for (const fileKind of fileKinds) {
    const { list } = fileKind;
    if (value[list] === undefined && !isNeeded(list)) continue;
    checkList(value[list], fileKind, mistakes);
    checkDuplicates(value[list], list, mistakes);
  }
  if (webhooks !== undefined) checkList(webhooks, webhookList, mistakes);
  if (mistakes.length > 0) throw await mistaken(document, mistakes);
  const file = value as unknown as FlagsFile;
  return {
    ...orderLists(file),
    ...(file.webhooks && {
      webhooks: file.webhooks.map((webhook) => ({ ...webhook, active: webhook.active ?? true })),
    }),
  };
};

const mistaken = async ({ name, lineOf }: Document, mistakes: readonly ValidationError[]) => {
  const details = await Promise.all(
    mistakes.map(async ({ path, message }) => ({ line: (await lineOf(path)) ?? null, message })),
  );
  details.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const count = mistakes.length === 1 ? "an error" : `${mistakes.length} errors`;
  const lines = details.map(
    ({ line, message }) => `  ${line === null ? "" : `line ${line}: `}${message}`,
  );
  return new CommandFailed(
    `${name} has ${count}; nothing was changed.\n${lines.join("\n")}`,
    exitCodes.failed,
    { details },
  );
};
