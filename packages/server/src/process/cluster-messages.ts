// What the primary process and its workers say to each other.
import type { Config } from "../config.ts";

/** The primary to a worker. */
export type Order = { readonly kind: "start"; readonly config: Config } | { readonly kind: "stop" };

/** A worker to the primary. */
export type Report =
  | { readonly kind: "up"; readonly url: string }
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly trace: string | undefined;
      /** The message is a sentence for the operator. */
      readonly foreseen: boolean;
    };

/** Milliseconds after the wish to stop in which a worker must have ended; it is killed then. */
export const stopPatience = 25_000;
