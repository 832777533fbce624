// What every tool is given.
import type { Management } from "@halyard/sdk/management";

/** Makes the id of a plan out of the plan. */
export interface PlanSeal {
  /** Undefined when the id would be longer than a tool takes. */
  seal(text: string): string | undefined;
  /** Undefined when it was not sealed with one of these secrets, or was altered. */
  open(sealed: string): string | undefined;
}

export interface ToolDependencies {
  readonly management: Management;
  /** The one that the API key is for. */
  readonly environment: string;
  readonly seal: PlanSeal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
