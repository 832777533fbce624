// Environments as stored, what people tell them apart by, how one is removed, and what is known of those that were.

import type { Actor } from "../../platform/auth/principal.ts";
import { invalid, ok, type Result } from "../../platform/errors.ts";
import { checkMaxFlips } from "../../writes/impact-limit.ts";

export const environmentColors = [
  ...["gray", "red", "orange", "yellow", "green"],
  ...["teal", "blue", "indigo", "violet", "pink"],
] as const;

/** What an owner may change of an environment. Its name stays: keys, files and events have it. */
export interface EnvironmentSettings {
  /** What people call it; null for its name. */
  readonly label: string | null;
  /** One of `environmentColors`; null for none. */
  readonly color: string | null;
  /** Whether changes need a second person. */
  readonly isProtected: boolean;
  /** When it is deleted with all that is in it; null for never. */
  readonly expiresAt: Date | null;
  /** The limit on flips of a change, in percent; null for none. */
  readonly maxFlips: number | null;
}

export interface Environment extends EnvironmentSettings {
  readonly id: number;
  readonly name: string;
  readonly createdAt: Date;
  readonly flagCount: number;
}

/** One that is not there yet, or no longer. Its name is taken. */
export interface UnfinishedEnvironment extends Environment {
  readonly state: "copying" | "deleting";
}

/** What is deleted together with an environment. */
export interface Contents {
  readonly flags: number;
  readonly webhooks: number;
  /** Those that are valid. */
  readonly keys: number;
}

export interface RemovedEnvironment extends Contents {
  readonly name: string;
  readonly beganAt: Date;
  /** Null while rows of it are left. */
  readonly endedAt: Date | null;
  /** Who removed it; null when that was not recorded yet. */
  readonly actor: Actor | null;
}

export interface EnvironmentReads {
  /** Those that can be used, by name. */
  environments(): Promise<readonly Environment[]>;
  unfinishedEnvironments(): Promise<readonly UnfinishedEnvironment[]>;
}

/** How far a copy has come: the last row of a table, by what its rows are ordered by. */
export interface CopyPosition {
  readonly table: number;
  readonly after: readonly string[] | null;
}

/** A copy on its way: nobody sees the environment until it is finished. */
export interface CopyWrites {
  /** Copies at most `limit` rows that come next; the position after them is undefined at the end. */
  copyPart(
    sourceId: number,
    targetId: number,
    position: CopyPosition,
    limit: number,
  ): Promise<{ readonly rows: number; readonly next: CopyPosition | undefined }>;
  /** Renews the lease that ends at `held`; false when it has ended, or another request has taken the copy over. */
  renewCopy(targetId: number, held: Date, until: Date, now: Date): Promise<boolean>;
  /** Takes over a copy whose lease has not ended, and returns where to continue and until when. Undefined when there is none. */
  takeOverCopy(
    targetId: number,
    until: Date,
    now: Date,
  ): Promise<{ readonly until: Date; readonly position: CopyPosition } | undefined>;
  /** Under a lock on the source: copies again what was changed after the revision, and shows the environment. */
  finishCopy(
    sourceId: number,
    targetId: number,
    revision: number,
    expiresAt: Date | null,
  ): Promise<void>;
}

export interface EnvironmentWrites extends CopyWrites {
  /** With `copyOf`, the id of another, it is hidden until the copy is finished. */
  insertEnvironment(
    name: string,
    at: Date,
    settings?: Partial<EnvironmentSettings>,
    copyOf?: number,
  ): Promise<Environment>;
  updateEnvironment(id: number, settings: Partial<EnvironmentSettings>): Promise<void>;
  /** Begins its removal, and records that: from now on neither its keys nor its webhooks work. */
  closeEnvironment(environment: Environment, at: Date, actor: Actor): Promise<void>;
  /** Deletes at most `limit` rows of it and returns their number: 0 once it is gone itself. */
  deleteEnvironmentPart(id: number, limit: number, at: Date): Promise<number>;
}

export const maxLabelLength = 60;
export const labelRule = `a text of 1 to ${maxLabelLength} characters without control characters`;

const isLabel = (text: string): boolean =>
  text.trim() !== "" && Array.from(text).length <= maxLabelLength && !/\p{C}/u.test(text);

/** Every setting that is given can be stored. */
export const checkSettings = (
  { label, color, expiresAt, maxFlips }: Partial<EnvironmentSettings>,
  now: Date,
): Result<void> => {
  if (label != null && !isLabel(label)) return invalid("label", `must be ${labelRule}, or null`);
  if (color != null && !environmentColors.some((each) => each === color)) {
    return invalid("color", `must be one of ${environmentColors.join(", ")}, or null`);
  }
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
  color,
  isProtected,
  expiresAt,
  maxFlips,
}: EnvironmentSettings) => ({
  label,
  color,
  protected: isProtected,
  expiresAt: expiresAt?.toISOString() ?? null,
  maxFlips,
});

export const environmentNamePattern = "^[a-z0-9][a-z0-9-]{0,62}$";

export const environmentNameRule =
  "1 to 63 characters, small letters, digits or hyphens, beginning with a letter or a digit";
