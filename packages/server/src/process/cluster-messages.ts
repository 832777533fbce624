// What the primary process and its workers say to each other.
import type { Config } from "./settings/config.ts";

/** What a worker asks of all workers. */
export type Question =
  | { readonly about: "metrics" }
  | { readonly about: "contexts"; readonly environmentId: number };

/** The primary to a worker. */
export type Order =
  | {
      readonly kind: "start";
      readonly config: Config;
      /** From 1: the one that takes the place of another has its number. */
      readonly number: number;
    }
  | { readonly kind: "stop" }
  | { readonly kind: "ask"; readonly round: number; readonly question: Question }
  /** What you asked of all. */
  | {
      readonly kind: "answers";
      readonly request: number;
      readonly answers: readonly unknown[];
      /** Whether all of them answered in time. */
      readonly isComplete: boolean;
    };

/** A worker to the primary. */
export type Report =
  | { readonly kind: "up"; readonly url: string }
  | { readonly kind: "ask all"; readonly request: number; readonly question: Question }
  | { readonly kind: "answer"; readonly round: number; readonly answer: unknown }
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly trace: string | undefined;
      /** The message is a sentence for the operator. */
      readonly isOperatorError: boolean;
    };

/** Milliseconds, beside the shutdown delay, after which a worker that was asked to stop is killed. */
export const workerStopTimeout = 25_000;
