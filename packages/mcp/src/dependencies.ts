// The dependencies of all tools.
import type { Management } from "@halyard/sdk/management";

/** Seals plans into ids. */
export interface PlanSeal {
  /** Undefined if the id would be longer than a tool accepts. */
  seal(text: string): string | undefined;
  /** Undefined if the id was not sealed with one of these secrets, or was altered. */
  open(sealed: string): string | undefined;
}

export interface ToolDependencies {
  readonly management: Management;
  /** The environment of the API key. */
  readonly environment: string;
  readonly seal: PlanSeal;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}
