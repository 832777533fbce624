// Attempts to sign in to an account: the first few at once, then after delays that grow, and never an end.
import { networkOf } from "./client-network.ts";

export interface Attempts {
  /** Counts one; gives the seconds to wait when it comes too soon, and then does not count it. */
  begin(account: string, address: string): number | undefined;
  /** One that was none after all. */
  takeBack(account: string, address: string): void;
  /** The person was there: what went before is forgotten. */
  succeeded(account: string, address: string): void;
}

interface DelayRule {
  /** So many without a delay. */
  readonly free: number;
  /** Milliseconds: the first delay is a second, each is twice the one before, and none is longer. */
  readonly longest: number;
}

interface Entry {
  count: number;
  nextAt: number;
}

/** From one network to one account: those who guess, and those who have forgotten. */
const perNetwork: DelayRule = { free: 5, longest: 15 * 60_000 };
/** To one account from everywhere: shorter, because the person is among them. */
const perAccount: DelayRule = { free: 20, longest: 60_000 };
/** Accounts remembered at once; beyond it those that were not asked for longest are forgotten. */
const maxNames = 20_000;
/** Milliseconds without an attempt after which an account begins anew. */
const forgottenAfter = 60 * 60_000;

const createDelays = ({ free, longest }: DelayRule, now: () => number) => {
  const entries = new Map<string, Entry>();
  return {
    wait(name: string): number | undefined {
      const left = (entries.get(name)?.nextAt ?? 0) - now();
      return left > 0 ? Math.ceil(left / 1_000) : undefined;
    },
    count(name: string): void {
      const before = entries.get(name);
      const isKnown = before !== undefined && before.nextAt + forgottenAfter > now();
      const count = (isKnown ? before.count : 0) + 1;
      const delay = count < free ? 0 : Math.min(longest, 1_000 * 2 ** (count - free));
      entries.delete(name);
      entries.set(name, { count, nextAt: now() + delay });
      if (entries.size <= maxNames) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
    takeBack(name: string): void {
      const entry = entries.get(name);
      if (entry) entries.set(name, { count: entry.count - 1, nextAt: now() });
    },
    forget(name: string): void {
      entries.delete(name);
    },
  };
};

export const createAttempts = (now: () => number): Attempts => {
  const networks = createDelays(perNetwork, now);
  const accounts = createDelays(perAccount, now);
  const nameOf = (account: string, address: string) => `${networkOf(address)} ${account}`;
  return {
    begin(account, address) {
      const name = nameOf(account, address);
      const wait = networks.wait(name) ?? accounts.wait(account);
      if (wait !== undefined) return wait;
      // Before it is known how it ends: many at once are as many as one after the other.
      networks.count(name);
      accounts.count(account);
      return undefined;
    },
    takeBack(account, address) {
      networks.takeBack(nameOf(account, address));
      accounts.takeBack(account);
    },
    succeeded(account, address) {
      networks.forget(nameOf(account, address));
      accounts.forget(account);
    },
  };
};
