// Resolves host names with the system's resolver, to all addresses, within a time limit.
import { lookup } from "node:dns/promises";
import type { LookUp } from "../../platform/database/store.ts";

export const systemLookUp: LookUp = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

/** The same with a time limit; it fails like a connection that times out. */
export const lookUpWithin =
  (milliseconds: number, lookUp: LookUp): LookUp =>
  async (name) => {
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(Object.assign(new Error("the look-up timed out"), { code: "ETIMEDOUT" }));
    }, milliseconds);
    try {
      return await Promise.race([lookUp(name), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  };
