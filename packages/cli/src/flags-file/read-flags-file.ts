// Reads a file of `halyard export`, and reports every mistake in it at once, with its line.
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed } from "../terminal/output.ts";
import type { Document } from "./document.ts";
import {
  descriptionRule,
  isDescription,
  isFlagKey,
  isPercentage,
  keyRule,
  percentageRule,
} from "./flag-rules.ts";
import { type FlagsFile, formatVersion, inOrder } from "./flags-file.ts";
import { type Fields, isFields } from "./loose-values.ts";

interface Mistake {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

const quoted = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** What each field must be; the ones that are not there are asked for by name. */
const checkFields = (
  fields: Fields,
  rules: Readonly<Record<string, readonly [rule: string, isGood: (value: unknown) => boolean]>>,
  optional: readonly string[],
  report: Report,
): void => {
  for (const [name, [rule, isGood]] of Object.entries(rules)) {
    const value = fields[name];
    if (value === undefined && optional.includes(name)) continue;
    if (value === undefined) report(name, `"${name}" is missing: ${rule}`);
    else if (!isGood(value)) report(name, `"${name}" must be ${rule}, not ${quoted(value)}`);
  }
  for (const name of Object.keys(fields)) {
    if (!Object.hasOwn(rules, name)) report(name, `"${name}" is not a field here`);
  }
};

const isBoolean = (value: unknown) => typeof value === "boolean";

type Report = (field: string, message: string) => void;

const checkFlag = (entry: Fields, report: Report): void => {
  const isRollout = entry.type !== "boolean";
  checkFields(
    entry,
    {
      key: [keyRule, isFlagKey],
      type: ['"boolean" or "rollout"', (type) => type === "boolean" || type === "rollout"],
      enabled: ["true or false", isBoolean],
      description: [descriptionRule, isDescription],
      ...((isRollout || entry.percentage !== undefined) && {
        percentage: isRollout
          ? [percentageRule, isPercentage]
          : ["left out: a boolean flag has none", () => false],
      }),
    },
    ["description", ...(entry.type === "rollout" ? [] : ["percentage"])],
    report,
  );
};

const checkWebhook = (entry: Fields, report: Report): void => {
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  const isEvents = (value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every(isText);
  checkFields(
    entry,
    {
      url: ["the address of the receiver", isText],
      events: ["a list of names of events", isEvents],
      active: ["true or false", isBoolean],
    },
    ["active"],
    report,
  );
};

const checkList = (
  list: unknown,
  name: "flags" | "webhooks",
  check: typeof checkFlag,
  mistakes: Mistake[],
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
    const whose = typeof entry.key === "string" ? ` (flag ${quoted(entry.key)})` : "";
    check(entry, (field, message) =>
      mistakes.push({ path: [name, index, field], message: message + whose }),
    );
  }
};

const checkTwice = (flags: readonly unknown[], mistakes: Mistake[]): void => {
  const seen = new Set<unknown>();
  for (const [index, entry] of flags.entries()) {
    const { key } = isFields(entry) ? entry : {};
    if (typeof key !== "string") continue;
    if (seen.has(key)) {
      mistakes.push({
        path: ["flags", index, "key"],
        message: `the flag ${quoted(key)} stands here a second time`,
      });
    }
    seen.add(key);
  }
};

/** Names the product whose file this seems to be, for those who forgot --from. */
const looksLike = (value: unknown): string | undefined => {
  if (Array.isArray(value)) return "flagsmith";
  if (!isFields(value)) return undefined;
  if ("featureStrategies" in value || "features" in value) return "unleash";
  if ("items" in value || "environments" in value) return "launchdarkly";
  if ("feature_states" in value) return "flagsmith";
  return isFields(value.flags) ? "flagd" : undefined;
};

/** The flags, or the end of the command with every mistake at once. */
export const readFlagsFile = async (document: Document): Promise<FlagsFile> => {
  const { name, value } = document;
  if (!isFields(value) || value.halyard === undefined) {
    const other = looksLike(value);
    throw new CommandFailed(
      `${name} is not a file of halyard export ("halyard: 1" is missing)${other === undefined ? "." : `; it looks like one of ${other}: add --from ${other}.`}`,
    );
  }
  if (value.halyard !== formatVersion) {
    throw new CommandFailed(
      `${name} is of the format ${quoted(value.halyard)}; this halyard reads ${formatVersion}: use the version that wrote it, or a newer one.`,
    );
  }
  const { halyard: _, flags, webhooks, ...others } = value;
  const mistakes: Mistake[] = Object.keys(others).map((field) => ({
    path: [field],
    message: `"${field}" is not a field here`,
  }));
  checkList(flags, "flags", checkFlag, mistakes);
  if (Array.isArray(flags)) checkTwice(flags, mistakes);
  if (webhooks !== undefined) checkList(webhooks, "webhooks", checkWebhook, mistakes);
  if (mistakes.length > 0) throw await mistaken(document, mistakes);
  const file = value as unknown as FlagsFile;
  return {
    flags: file.flags.map((flag) => inOrder({ ...flag, description: flag.description ?? null })),
    ...(file.webhooks && {
      webhooks: file.webhooks.map((webhook) => ({ ...webhook, active: webhook.active ?? true })),
    }),
  };
};

const mistaken = async ({ name, lineOf }: Document, mistakes: readonly Mistake[]) => {
  const details = await Promise.all(
    mistakes.map(async ({ path, message }) => ({ line: (await lineOf(path)) ?? null, message })),
  );
  details.sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const count = mistakes.length === 1 ? "a mistake" : `${mistakes.length} mistakes`;
  const lines = details.map(
    ({ line, message }) => `  ${line === null ? "" : `line ${line}: `}${message}`,
  );
  return new CommandFailed(
    `${name} has ${count}; nothing was changed.\n${lines.join("\n")}`,
    exitCodes.failed,
    { details },
  );
};
