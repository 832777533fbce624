// Looks a name up as the system would: every address, within a second.
import { lookup } from "node:dns/promises";
import type { Resolve } from "./ports.ts";

const patience = 1_000;

export const resolveName: Resolve = async (name) => {
  const { promise: tooLate, resolve: giveUp } = Promise.withResolvers<readonly string[]>();
  const timer = setTimeout(giveUp, patience, []);
  try {
    const found = lookup(name, { all: true, verbatim: true }).then(
      (addresses) => addresses.map(({ address }) => address),
      () => [],
    );
    return await Promise.race([found, tooLate]);
  } finally {
    clearTimeout(timer);
  }
};
