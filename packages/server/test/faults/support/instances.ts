// Several servers on one store that are killed, stopped and continued, and a list of what was done to which of them when.
import assert from "node:assert/strict";
import { type RunningServer, serveHalyard } from "../../support/halyard-process.ts";
import type { Receipt } from "./receiver.ts";
import type { Random } from "./seeded-random.ts";

/** One life of a server could not finish what it had begun: killed at a moment, or stopped for a while. */
export interface Fault {
  /** The name under which that life signed, as it stands in header names. */
  readonly service: string;
  readonly from: number;
  to: number;
}

interface Instance {
  readonly name: string;
  life: number;
  server: RunningServer;
  isUp: boolean;
}

export interface Sleeper {
  readonly service: string;
  readonly place: { readonly url: string; readonly key: string };
  readonly wake: () => void;
}

export interface Instances {
  readonly faults: readonly Fault[];
  /** Starts that were tried again because the database ended their connection. */
  readonly failedStarts: () => number;
  /** One that is up, by chance. */
  readonly any: () => Promise<{ readonly url: string; readonly key: string }>;
  readonly all: () => readonly { readonly url: string; readonly key: string }[];
  /** Kills one that is up, by chance, and starts it anew; comes back when it is up again. */
  readonly killAndRestart: () => Promise<void>;
  /** Stops one that is up, by chance, until it is woken. */
  readonly putToSleep: () => Sleeper;
  /** Asks all to end, and holds them to it. */
  readonly stop: () => Promise<void>;
  readonly kill: () => Promise<void>;
}

export const startInstances = async (
  folder: string,
  key: string,
  names: readonly string[],
  random: Random,
): Promise<Instances> => {
  const faults: Fault[] = [];
  let failedStarts = 0;

  const start = async (name: string, life: number): Promise<RunningServer> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await serveHalyard(folder, {
          HALYARD_BOOTSTRAP_KEYS: `development=${key}`,
          HALYARD_LOG_LEVEL: "fatal",
          // One that falls asleep in a transaction holds its locks until PostgreSQL ends it, 5 s after this. That must be before
          // a lease ends: the others record what they have sent only then, and would send it again.
          HALYARD_POSTGRES_TIMEOUT: "15",
          HALYARD_SERVICE_NAME: `${name}-${life}`,
        });
      } catch (error) {
        // As whoever supervises them would.
        if (tries === 5) throw error;
        failedStarts += 1;
      }
    }
  };
  const instances = await Promise.all(
    names.map(
      async (name): Promise<Instance> => ({
        name,
        life: 1,
        server: await start(name, 1),
        isUp: true,
      }),
    ),
  );
  const pick = (): Instance => {
    const up = instances.filter(({ isUp }) => isUp);
    const chosen = up[random(up.length)];
    assert.ok(chosen, "one is always up");
    return chosen;
  };
  const note = ({ name, life }: Instance): Fault => {
    const now = performance.now();
    const fault = { service: `${name}-${life}`, from: now, to: now };
    faults.push(fault);
    return fault;
  };

  return {
    faults,
    failedStarts: () => failedStarts,
    any: async () => ({ url: pick().server.url, key }),
    all: () => instances.map(({ server: { url } }) => ({ url, key })),
    async killAndRestart() {
      const instance = pick();
      instance.isUp = false;
      note(instance);
      instance.server.kill("SIGKILL");
      assert.equal((await instance.server.ended).signal, "SIGKILL");
      instance.life += 1;
      instance.server = await start(instance.name, instance.life);
      instance.isUp = true;
    },
    putToSleep() {
      const instance = pick();
      instance.isUp = false;
      const fault = note(instance);
      instance.server.kill("SIGSTOP");
      return {
        service: `${instance.name}-${instance.life}`,
        place: { url: instance.server.url, key },
        wake() {
          fault.to = performance.now();
          instance.server.kill("SIGCONT");
          instance.isUp = true;
        },
      };
    },
    async stop() {
      for (const { server } of instances) server.kill("SIGTERM");
      for (const { server } of instances) assert.equal((await server.ended).code, 0);
    },
    async kill() {
      for (const { server } of instances) server.kill("SIGKILL");
      await Promise.all(instances.map(({ server }) => server.ended));
    },
  };
};

/** What befell a sender and what it sent are noticed a little late. */
const slack = 3_000;

const explains = (fault: Fault, service: string, from: number, to: number): boolean =>
  fault.service === service && fault.to > from - slack && fault.from < to;

/** Sent by one that slept, the moment it woke: nobody can keep it from finishing the line that it was in. */
const isSleepTalk = ({ service, at }: Receipt, faults: readonly Fault[]): boolean =>
  faults.some((fault) => fault.to > fault.from && explains(fault, service, at, at));

/** What was sent again after it had been accepted; and of that, what no fault of either sender explains. */
export const repetitions = (
  receipts: readonly Receipt[],
  faults: readonly Fault[],
): { readonly count: number; readonly unexplained: readonly string[] } => {
  const accepted = new Map<string, Receipt>();
  let count = 0;
  const unexplained: string[] = [];
  for (const receipt of receipts) {
    const first = accepted.get(receipt.deliveryId);
    if (receipt.status === 204) accepted.set(receipt.deliveryId, receipt);
    if (!first) continue;
    count += 1;
    if (isSleepTalk(receipt, faults)) continue;
    if (faults.some((fault) => explains(fault, first.service, first.at, receipt.at))) continue;
    const story = receipts
      .filter(({ deliveryId }) => deliveryId === receipt.deliveryId)
      .map(({ service, status, at }) => `${service} ${status} at ${Math.round(at)}`);
    const befell = faults
      .filter(({ service }) => [first.service, receipt.service].includes(service))
      .map(({ service, from, to }) => `${service} ${Math.round(from)} to ${Math.round(to)}`);
    unexplained.push(`event ${receipt.sequence}: ${story.join(", ")}; down: ${befell.join(", ")}`);
  }
  return { count, unexplained };
};

export const withoutSleepTalk = (
  receipts: readonly Receipt[],
  faults: readonly Fault[],
): Receipt[] => receipts.filter((receipt) => !isSleepTalk(receipt, faults));
