// A server as a company has it after years: 5,000 flags in two environments, people who change them, and an outage of a receiver.
import {
  createManagement,
  type Management,
  type Result,
} from "../../packages/sdk/src/management.ts";
import { logWhen, wasAttempted } from "../../packages/server/test/support/delivery-log.ts";
import {
  accept,
  type ScriptedReceiver,
  startReceiver,
} from "../../packages/server/test/support/scripted-receiver.ts";
import { startTestServer, type TestServer } from "../../packages/server/test/support/server.ts";

const areas =
  "account basket billing cart-abandonment catalogue checkout consent coupons delivery email fraud invoices loyalty login mobile onboarding orders passport payments pricing profile recommendations returns search shipping";
const things =
  "address banner cache carousel discounts export filters form history import limits menu notice page preview ranking reminder retry summary upload";
const endings = "2025 2026 async beta dark fast legacy new v2 v3";
const words = (text: string): readonly string[] => text.split(" ");

/** 25 × 20 × 10. */
export const flagKeys: readonly string[] = words(areas).flatMap((area) =>
  words(things).flatMap((thing) => words(endings).map((ending) => `${area}-${thing}-${ending}`)),
);

/** What the jobs are about. */
export const named = {
  found: "passport-upload-v2",
  rollout: "checkout-address-new",
  staffOnly: "search-ranking-v3",
  copied: "onboarding-summary-2026",
  changed: "pricing-page-2026",
  deleted: "invoices-by-mail",
  lost: "orders-export-async",
  explained: "recommendations-carousel-v2",
} as const;

export interface JobServer {
  readonly server: TestServer;
  readonly keys: Readonly<Record<"development" | "production", string>>;
  /** Refuses all of production's events. */
  readonly down: ScriptedReceiver;
  /** Takes those of development; it has lost the events after this sequence. */
  readonly healthy: ScriptedReceiver;
  readonly lastKept: number;
  close(): Promise<void>;
}

const valueIn = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

/** By the receiver of development, which had taken them. */
export const eventsLost = 200;

const atOnce = 40;
const forAll = async <T>(all: readonly T[], work: (each: T) => Promise<unknown>): Promise<void> => {
  const rest = [...all].reverse();
  const worker = async () => {
    for (let each = rest.pop(); each !== undefined; each = rest.pop()) await work(each);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

const createAll = (admin: Management): Promise<void> =>
  forAll(flagKeys, async (key) => {
    const isRollout = key.length % 2 === 0 || key === named.rollout;
    const area = key.split("-")[0] ?? "";
    const flag = { key, description: `Owned by the ${area} team.` };
    valueIn(
      await admin.flags.create(
        isRollout
          ? { ...flag, type: "rollout", percentage: key === named.rollout ? 0 : key.length }
          : { ...flag, type: "boolean" },
      ),
    );
  });

const personWith = async (server: TestServer, admin: Management, name: string) =>
  createManagement({
    url: server.url,
    key: valueIn(await admin.keys.create({ name, role: "admin" })).key,
  });

const keyOf = (server: TestServer, environment: string): string => {
  const found = server.firstKeys.find((each) => each.environment === environment);
  if (found === undefined) throw new Error(`There is no key of ${environment}.`);
  return found.text;
};

/** Of the one flag whose history somebody asks about: the release pipeline moves it, and once Maya turned it off. */
const makeHistory = async (pipeline: Management, maya: Management): Promise<void> => {
  for (let step = 1; step <= 45; step += 1) {
    const who = step === 15 ? maya : pipeline;
    const patch = step === 15 ? { enabled: false } : { enabled: true, description: `No. ${step}` };
    valueIn(await who.flags.update(named.changed, patch));
  }
};

export const startJobServer = async (): Promise<JobServer> => {
  const server = await startTestServer();
  const keys = {
    development: keyOf(server, "development"),
    production: keyOf(server, "production"),
  };
  const production = createManagement({ url: server.url, key: keys.production });
  const development = createManagement({ url: server.url, key: keys.development });
  const down = await startReceiver(() => ({
    status: 503,
    body: '{"error":"connection pool exhausted"}',
  }));
  const healthy = await startReceiver(accept);
  const maya = await personWith(server, production, "Maya");
  const pipeline = await personWith(server, production, "release pipeline");

  const orders = valueIn(await production.webhooks.create({ url: down.url, events: ["*"] }));
  // The first events of the outage are attempted, those behind them wait.
  valueIn(await maya.flags.create({ key: "outage-begins", type: "boolean" }));
  valueIn(await maya.flags.create({ key: named.lost, type: "boolean" }));
  await logWhen(server.api(keys.production), orders.id, 2, wasAttempted);
  valueIn(await maya.flags.delete(named.lost));
  await createAll(pipeline);
  await createAll(development);

  await makeHistory(pipeline, maya);
  for (let number = 1; number <= 12; number += 1) {
    const key = number === 4 ? named.deleted : `retired-${number}`;
    valueIn(await maya.flags.create({ key, type: "boolean" }));
    valueIn(await maya.flags.delete(key));
  }
  const rules = [
    {
      id: "pro-in-europe",
      when: {
        all: [
          { attribute: "plan", op: "in", values: ["pro", "team"] },
          { attribute: "country", op: "in", values: ["DE", "FR", "NL"] },
        ],
      },
      serve: "on",
    },
  ] as const;
  valueIn(await maya.flags.update(named.explained, { enabled: true, otherwise: "off", rules }));
  valueIn(
    await development.flags.update(named.copied, {
      enabled: true,
      description: "Measured for two weeks: keep it.",
    }),
  );

  const sync = valueIn(await development.webhooks.create({ url: healthy.url, events: ["*"] }));
  for (let change = 0; change <= eventsLost; change += 1) {
    valueIn(await development.flags.update(named.changed, { description: `Text ${change}` }));
  }
  const log = await logWhen(
    server.api(keys.development),
    sync.id,
    eventsLost + 1,
    ({ state }) => state === "delivered",
  );
  const lastKept = Math.min(...log.map(({ event }) => event.sequence ?? 0));
  return {
    server,
    keys,
    down,
    healthy,
    lastKept,
    async close() {
      await down.close();
      await healthy.close();
      await server.close();
    },
  };
};
