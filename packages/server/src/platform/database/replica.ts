// Something in memory that follows the database.
import type { Commit, Position } from "./store.ts";

/** Something in memory that follows the store. */
export interface Replica {
  /** Called before the positions are read; the function it returns is called with them. */
  beginPoll(): (positions: readonly Position[]) => Promise<void>;
  /** What this instance has just committed; false when something in between is missing. */
  apply(commit: Pick<Commit, "changes" | "revokedKeys" | "accessChanged">): boolean;
}
