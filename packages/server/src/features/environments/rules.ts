// What the name, the label and the settings of an environment may be, and when one is overdue.

import type { Environment, EnvironmentSettings } from "../../platform/environments.ts";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { checkMaxFlips } from "../../writes/impact-limit.ts";

/** How far a copy has come: the last row of a table, by what its rows are ordered by. */
export interface CopyPosition {
  readonly table: number;
  readonly after: readonly string[] | null;
}

export const maxLabelLength = 60;
export const labelRule = `a text of 1 to ${maxLabelLength} characters without control characters`;

const isLabel = (text: string): boolean =>
  text.trim() !== "" && Array.from(text).length <= maxLabelLength && !/\p{C}/u.test(text);

/** Every setting that is given can be stored. */
export const checkSettings = (
  { label, expiresAt, maxFlips }: Partial<EnvironmentSettings>,
  now: Date,
): Result<void> => {
  if (label != null && !isLabel(label)) return invalid("label", `must be ${labelRule}, or null`);
  if (expiresAt != null && expiresAt <= now) return invalid("expiresAt", "must be in the future");
  return maxFlips == null ? ok(undefined) : checkMaxFlips(maxFlips);
};

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export const lifetimePattern = "^[1-9][0-9]{0,4}[mhd]$";
export const lifetimeRule = "minutes, hours or days such as 90m, 12h or 7d";

/** Milliseconds; undefined when the text is no lifetime. */
export const readLifetime = (text: string): number | undefined =>
  new RegExp(lifetimePattern).test(text)
    ? Number(text.slice(0, -1)) * units[text.slice(-1) as keyof typeof units]
    : undefined;

export const isOverdue = ({ expiresAt }: Pick<Environment, "expiresAt">, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now;

/** As history shows it. */
export const shownSettings = ({
  label,
  isProtected,
  expiresAt,
  maxFlips,
}: EnvironmentSettings) => ({
  label,
  protected: isProtected,
  expiresAt: expiresAt?.toISOString() ?? null,
  maxFlips,
});

export const environmentNamePattern = "^[a-z0-9][a-z0-9-]{0,62}$";

export const environmentNameRule =
  "1 to 63 characters, small letters, digits or hyphens, beginning with a letter or a digit";
