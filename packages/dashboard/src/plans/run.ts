// A plan that is carried out, and how far it has come.
import type { Change } from "@halyard/core/plan/plan";
import type { Outcome } from "@halyard/sdk/apply-plan";
import type { Api } from "../session.tsx";

export interface Run {
  /** While it runs, such as "Copying to production". */
  readonly doing: string;
  /** Afterwards, such as "Copied to production". */
  readonly done: string;
  readonly api: Api;
  readonly changes: readonly Change[];
  /** Of the flags when the plan was shown: one that changed since is left alone. */
  readonly versions: ReadonlyMap<string, number>;
  readonly reason?: string;
  /** For undoing. */
  readonly isUndo?: boolean;
}

export interface Running extends Run {
  readonly finished: number;
  /** The rate limit is reached for so long, in milliseconds. */
  readonly wait?: number | undefined;
  /** In the order of the changes, once it has ended. */
  readonly outcomes?: readonly Outcome[];
  readonly stop: () => void;
}
