// Verifies the history of an environment: in parts, once for all who ask at the same time.
import { createHistoryVerifier, type HistoryVerification } from "@halyard/core/history/verify";
import type { EnvironmentRef } from "../../platform/auth/principal.ts";
import type { Db } from "../../platform/database/db.ts";
import type { Clock } from "../../platform/database/store.ts";
import { noEnvironment, ok, type Result } from "../../platform/errors.ts";
import { sha256 } from "../../platform/text-hash.ts";
import type { ChainPart } from "../../writes/history-entry.ts";
import { findChainPart } from "./chain-queries.ts";
import { signedBy } from "./checkpoints.ts";

/** What was found is told again for so many milliseconds, while the head is the same. */
const keptFor = 10_000;

export interface Verified extends HistoryVerification {
  readonly verifiedAt: Date;
}

export interface Verification {
  verify(environment: EnvironmentRef): Promise<Result<Verified>>;
  /** A part of the history as it is exported. */
  part(environment: EnvironmentRef, after: number): Promise<Result<ChainPart>>;
}

/** Others are served between two parts. */
const pause = () => new Promise((resolve) => setImmediate(resolve));

export const createVerification = (db: Db, clock: Clock): Verification => {
  const running = new Map<number, Promise<Result<Verified>>>();
  const kept = new Map<number, Verified>();

  const walk = async ({ id, name }: EnvironmentRef): Promise<Result<Verified>> => {
    const verifier = createHistoryVerifier(sha256, { isSigned: signedBy(db.secrets) });
    verifier.add({ type: "history", format: 1, environment: name });
    for (let after: number | undefined = 0; after !== undefined; ) {
      const part: ChainPart | undefined = await findChainPart(db, id, after);
      if (!part) return noEnvironment;
      for (const line of part.parts) verifier.add(line);
      after = part.next;
      if (after === undefined) verifier.add({ type: "end", head: part.head });
      await pause();
    }
    const verified = { ...verifier.end(), verifiedAt: clock() };
    kept.set(id, verified);
    return ok(verified);
  };

  /** Entries that are deleted between two parts look like a break: only one that is there twice is one. */
  const walkTwice = async (environment: EnvironmentRef): Promise<Result<Verified>> => {
    const first = await walk(environment);
    return first.ok && first.value.problemCount > 0 ? walk(environment) : first;
  };

  return {
    async verify(environment) {
      const { id } = environment;
      const known = kept.get(id);
      if (known && clock().getTime() - known.verifiedAt.getTime() < keptFor) {
        const end = await findChainPart(db, id, Number.MAX_SAFE_INTEGER);
        if (end?.head === known.head) return ok(known);
      }
      const begun = running.get(id) ?? walkTwice(environment);
      running.set(id, begun);
      try {
        return await begun;
      } finally {
        running.delete(id);
      }
    },

    async part({ id }, after) {
      const part = await findChainPart(db, id, after);
      return part ? ok(part) : noEnvironment;
    },
  };
};
