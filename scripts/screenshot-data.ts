// A server that looks as if a team had worked with it for a day: flags, changes, evaluations, receivers good and bad.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { createManagement, type Management, type Result } from "../packages/sdk/src/management.ts";
import {
  isDelivered,
  logWhen,
  wasAttempted,
} from "../packages/server/test/support/delivery-log.ts";
import { hour, minute, movableClock } from "../packages/server/test/support/movable-clock.ts";
import { startTestServer, type TestServer } from "../packages/server/test/support/server.ts";

export interface ShownServer {
  readonly server: TestServer;
  readonly keys: readonly string[];
  /** The webhook whose deliveries are worth looking at, and one of them that had to be tried again. */
  readonly webhookId: string;
  readonly deliveryId: string;
  close(): Promise<void>;
}

const flags = [
  ["new-checkout", 25, "One page instead of four. Ask #shop before going over 50%."],
  ["dark-mode", undefined, "Dark colours in the account area."],
  ["search-v2", 0.5, "The new index, for a few users first."],
  ["pricing-page-2027", 50, "A/B test of two pricing pages."],
  ["invoice-by-mail", undefined, "Remove once every account has an email address."],
  ["maintenance-banner", undefined, "Turn on before planned maintenance."],
  ["recommendations", 10, "Below the basket. Costs 40 ms a page."],
  ["passkey-sign-in", 75, "Passkeys in addition to passwords."],
  ["export-to-csv", undefined, null],
  ["image-avif", 100, "AVIF for browsers that support it."],
  ["legacy-api", undefined, "The API of 2023. Remove it in spring."],
  ["express-shipping", 33.333, "Same-day shipping for a third of users."],
] as const;

const valueIn = <T>(result: Result<T>): T => {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
};

const listen = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
};

/** One that knows the key's name, as history shows it. */
const personWith = async (server: TestServer, admin: Management, name: string) =>
  createManagement({
    url: server.url,
    key: valueIn(await admin.keys.create({ name, role: "admin" })).key,
  });

const reportUsage = async (server: TestServer, key: string, hourOfDay: number): Promise<void> => {
  const busy = 1 + Math.sin(((hourOfDay - 8) / 24) * 2 * Math.PI);
  const evaluations = flags.slice(0, 9).map(([flag, percentage], index) => {
    const asked = Math.round((busy * 4_000 + 900) / (index + 1));
    const on = Math.round((asked * (percentage ?? (index % 2) * 100)) / 100);
    return { key: flag, on, off: asked - on };
  });
  const answer = await fetch(`${server.url}/api/v1/usage`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ evaluations }),
  });
  if (!answer.ok) throw new Error(await answer.text());
};

/** Segments, rules and an experiment, with reasons; development is ahead in some of it. */
const target = async (maya: Management, development: Management): Promise<void> => {
  const segments = [
    ["beta-testers", "Signed up on the beta page.", ["user-7", "user-19", "user-4711"]],
    ["embargoed", "No deliveries there.", []],
  ] as const;
  for (const environment of [maya, development]) {
    for (const [key, description, include] of segments) {
      const when = { attribute: "country", op: "in", values: ["CU", "KP"] } as const;
      valueIn(
        await environment.segments.create({
          key,
          description,
          include: [...include],
          ...(key === "embargoed" && { when }),
        }),
      );
    }
    valueIn(
      await environment.flags.create({
        key: "new-invoices",
        type: "variant",
        valueType: "string",
        variants: { old: "A4", short: "one page", detailed: "line by line" },
        off: "old",
        otherwise: "old",
        description: "The new invoice. Measured until March.",
        tags: ["billing", "experiment"],
        owner: "team-billing",
      }),
    );
  }
  const rules = [
    {
      id: "staff",
      description: "We read our own invoices first.",
      when: { attribute: "email", op: "endsWith", values: ["@example.com"] },
      serve: "detailed",
    },
    {
      id: "paying-in-europe",
      when: {
        all: [
          { attribute: "plan", op: "in", values: ["pro", "team"] },
          { attribute: "country", op: "in", values: ["DE", "FR", "NL"] },
          { not: { segment: ["embargoed"] } },
        ],
      },
      serve: [
        { variant: "old", share: 50 },
        { variant: "short", share: 30 },
        { variant: "detailed", share: 20 },
      ],
    },
    { id: "beta", when: { segment: ["beta-testers"] }, serve: "short" },
  ] as const;
  for (const [environment, shownRules] of [
    [maya, rules.slice(0, 2)],
    [development, rules],
  ] as const) {
    valueIn(
      await environment.flags.update(
        "new-invoices",
        { enabled: true, rules: [...shownRules] },
        { reason: "Support is ready for questions, see INV-82" },
      ),
    );
  }
  for (const [key, percentage, description] of flags.slice(0, 9)) {
    const type = percentage === undefined ? "boolean" : "rollout";
    valueIn(
      await development.flags.create({
        key,
        type,
        description,
        ...(percentage !== undefined && { percentage: key === "search-v2" ? 20 : percentage }),
      }),
    );
    valueIn(await development.flags.update(key, { enabled: true }));
  }
};

export const startShownServer = async (): Promise<ShownServer> => {
  const clock = movableClock();
  const dayLong = 24;
  clock.forward(-dayLong * hour);
  const server = await startTestServer(
    {},
    { clock: clock.clock, lookUp: async () => ["127.0.0.1"] },
  );
  let isDown = false;
  const receiver = createServer((request, response) => {
    request.resume();
    void pause(8 + Math.random() * 30).then(() =>
      isDown
        ? response.writeHead(503).end('{"error":"deploying, back in a minute"}')
        : response.writeHead(200).end('{"received":true}'),
    );
  });
  const port = await listen(receiver);

  const adminKey = server.firstKeys.find(({ environment }) => environment === "production")?.text;
  if (adminKey === undefined) throw new Error("There is no key of production.");
  const admin = createManagement({ url: server.url, key: adminKey });
  const production = server.api(adminKey);
  const maya = await personWith(server, admin, "Maya");
  const release = await personWith(server, admin, "release pipeline");
  for (const [key, percentage, description] of flags) {
    const type = percentage === undefined ? "boolean" : "rollout";
    valueIn(
      await maya.flags.create({
        key,
        type,
        description,
        ...(percentage !== undefined && { percentage: 0 }),
      }),
    );
  }
  const shop = valueIn(
    await maya.webhooks.create({ url: `http://shop.example:${port}/hooks/flags`, events: ["*"] }),
  );
  valueIn(
    await maya.webhooks.create({
      url: `http://cdn.example:${port}/purge`,
      events: ["flag.enabled", "flag.disabled"],
    }),
  );

  for (let hours = 0; hours < dayLong; hours += 1) {
    await reportUsage(server, adminKey, (new Date().getHours() + hours) % 24);
    const [key, percentage] = flags[hours % flags.length] ?? flags[0];
    const who = hours % 3 === 0 ? release : maya;
    isDown = hours === 15;
    if (hours < flags.length) {
      if (hours % 5 !== 4) valueIn(await who.flags.update(key, { enabled: true }));
    } else if (percentage !== undefined) {
      valueIn(await who.flags.update(key, { percentage }));
    }
    if (isDown) {
      await logWhen(production, shop.id, 1, wasAttempted);
      isDown = false;
    }
    clock.forward(20 * minute);
    if (hours === 21) valueIn(await release.flags.update("new-checkout", { percentage: 5 }));
    if (hours === 22) valueIn(await maya.flags.update("new-checkout", { percentage: 25 }));
    await logWhen(production, shop.id, 1, isDelivered);
    clock.forward(40 * minute);
  }
  const development = server.firstKeys.find(({ environment }) => environment === "development");
  if (development === undefined) throw new Error("There is no key of development.");
  await target(maya, createManagement({ url: server.url, key: development.text }));
  const log = valueIn(await admin.webhooks.deliveries(shop.id, { limit: 100 }));
  const retried = log.find(({ attempts }) => attempts.length > 1) ?? log[0];
  if (retried === undefined) throw new Error("Nothing was delivered.");
  return {
    server,
    keys: [adminKey, development.text],
    webhookId: shop.id,
    deliveryId: retried.id,
    async close() {
      receiver.closeAllConnections();
      receiver.close();
      await server.close();
    },
  };
};
