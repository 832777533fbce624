// Looks names up as the system would: every address, within a time.
import { lookup } from "node:dns/promises";
import type { LookUp } from "../ports.ts";

export const systemLookUp: LookUp = async (name) =>
  (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address);

/** The same, failing like a connection that takes too long. */
export const lookUpWithin =
  (milliseconds: number, lookUp: LookUp): LookUp =>
  async (name) => {
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(Object.assign(new Error("the look-up took too long"), { code: "ETIMEDOUT" }));
    }, milliseconds);
    try {
      return await Promise.race([lookUp(name), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  };
