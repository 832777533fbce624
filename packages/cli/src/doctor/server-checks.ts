// Checks a running server over HTTP: whether it responds, is ready and has this version, its clock, and the key.
import type { Management } from "@halyard/sdk/management";
import type { Inspected } from "@halyard/server/operator/doctor";
import { newKeyCommand } from "../server-connection/connection.ts";
import { type Check, fail, ok, warn } from "./check.ts";

export interface CheckedServer {
  readonly url: string;
  readonly key: string | undefined;
  /** Whether the user specified the server. */
  readonly isNamed: boolean;
}

const timeout = 5_000;
/** The Date header has a resolution of one second. */
const noticeableSkew = 3_000;
/** Receivers reject signatures if the times differ too much: five minutes in Standard Webhooks. */
const harmfulSkew = 240_000;

interface Answer {
  readonly status: number;
  readonly date: string | null;
  readonly body: unknown;
  /** The local time in milliseconds, midway between request and response. */
  readonly at: number;
}

const ask = async (url: string, path: string): Promise<Answer | undefined> => {
  try {
    const start = Date.now();
    const response = await fetch(url.replace(/\/+$/, "") + path, {
      signal: AbortSignal.timeout(timeout),
    });
    const at = (start + Date.now()) / 2;
    const body: unknown = await response.json().catch(() => undefined);
    return { status: response.status, date: response.headers.get("date"), body, at };
  } catch {
    return undefined;
  }
};

export const serverChecks = async (
  { url, isNamed }: CheckedServer,
  version: string,
): Promise<Check[]> => {
  const health = await ask(url, "/healthz");
  if (!health) {
    const remedy = "start it with halyard serve, or pass its address with --url or --profile";
    return [(isNamed ? fail : warn)("server", `no server responds at ${url}`, remedy)];
  }
  const status = (health.body as { status?: unknown } | undefined)?.status;
  if (health.status !== 200 || status !== "ok") {
    return [
      fail(
        "server",
        `${url} does not respond like a Halyard server (/healthz: ${health.status})`,
        "check the address, and any proxy in front of it",
      ),
    ];
  }
  const ready = await ask(url, "/readyz");
  const checks: Check[] = [];
  if (ready?.status === 200) checks.push(ok("server", `${url} is up and ready`));
  else {
    checks.push(
      fail(
        "server",
        `${url} is up but not ready (/readyz: ${ready?.status ?? "no response"})`,
        "its log has the cause: the database is not usable, or the server is stopping",
      ),
    );
  }
  checks.push(...versionChecks(await ask(url, "/openapi.json"), version));
  return [...checks, ...clockChecks(health)];
};

const versionChecks = (description: Answer | undefined, version: string): Check[] => {
  const { info } = (description?.body ?? {}) as { info?: { version?: unknown } };
  if (typeof info?.version !== "string" || info.version === version) return [];
  return [
    warn(
      "server",
      `the server is Halyard ${info.version} and this command is ${version}`,
      "use the command that came with the server, or upgrade the older one",
    ),
  ];
};

export const clockChecks = ({ date, at }: Pick<Answer, "date" | "at">): Check[] => {
  const there = Date.parse(date ?? "");
  if (Number.isNaN(there)) return [];
  // On average, the header is half a second behind.
  const skew = Math.abs(there + 500 - at);
  if (skew < noticeableSkew) return [ok("clock", "the server's clock agrees with this machine's")];
  const said = `the server's clock and this machine's are ${Math.round(skew / 1_000)} seconds apart`;
  const remedy =
    "synchronize both with a time server (NTP): receivers reject signatures with a wrong time";
  return [(skew > harmfulSkew ? fail : warn)("clock", said, remedy)];
};

/** The webhooks and keys of the environment; undefined without an admin key. */
export const rowsOfServer = async (
  management: Management,
): Promise<{
  readonly checks: Check[];
  readonly rows: Omit<Inspected, "unreadableSecrets" | "histories"> | undefined;
}> => {
  const keys = await management.keys.list();
  const webhooks = keys.ok ? await management.webhooks.list() : keys;
  if (!keys.ok || !webhooks.ok) {
    const { code = "", message = "" } = keys.ok ? (webhooks.ok ? {} : webhooks.error) : keys.error;
    if (code === "FORBIDDEN") {
      return {
        checks: [ok("keys", "the key is valid; further checks need an admin key")],
        rows: undefined,
      };
    }
    const remedy = `check --key, HALYARD_API_KEY or the profile. ${newKeyCommand("admin")}`;
    return { checks: [fail("keys", message.replace(/\.$/, ""), remedy)], rows: undefined };
  }
  const own = await management.keys.current();
  const environment = own.ok ? own.value.environment : "this key";
  const health = await management.webhooks.health();
  const healthOf = new Map((health.ok ? health.value : []).map((each) => [each.webhookId, each]));
  const timeOf = (time: string | null | undefined) => (time == null ? null : new Date(time));
  const inspected = webhooks.value.map(({ id, url, active }) => {
    const its = healthOf.get(id);
    return {
      environment,
      id,
      url,
      active,
      deactivatedFor: its?.deactivatedFor ?? null,
      failingSince: timeOf(its?.failingSince),
      pending: its?.pending ?? 0,
      oldestPendingAt: timeOf(its?.oldestPendingAt),
    };
  });
  return {
    checks: [],
    rows: {
      environments: [environment],
      webhooks: inspected,
      keys: keys.value.map(({ createdAt, lastUsedAt, expiresAt, ...shown }) => ({
        ...shown,
        environment,
        createdAt: new Date(createdAt),
        lastUsedAt: lastUsedAt === null ? null : new Date(lastUsedAt),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      })),
    },
  };
};
