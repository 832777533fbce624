// Environment variables -> Config: parsed once, every mistake reported together.

import { availableParallelism } from "node:os";
import { defaultServiceName } from "@halyard/core/webhook-signature";
import { environmentNameRule } from "../../features/environments/rules.ts";
import type { ProviderSettings } from "../../features/people/sign-in/provider.ts";
import {
  type AllowedPlace,
  type CallbackPolicy,
  parseAllowedPlace,
} from "../../features/webhooks/callback-address.ts";
import { type DatabaseSettings, readDatabase } from "./database-settings.ts";
import { type FlagdSettings, readFlagdSettings } from "./flagd-settings.ts";
import { isLoopbackHost } from "./loopback.ts";
import { providersSetting, readProviders } from "./providers.ts";
import {
  all,
  type BootstrapKey,
  readBootstrapKeys,
  readPublicUrl,
  readSecretKey,
  readSwitch,
  readTrustProxy,
  refuseMistakes,
} from "./read-setting.ts";
import { createSettingReader, type Variables, whole } from "./setting-reader.ts";

export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined when there is to be no gRPC server. */
  readonly flagd: FlagdSettings | undefined;
  readonly database: DatabaseSettings;
  /** Whether a start may migrate the schema; otherwise `halyard migrate` does. */
  readonly mayMigrate: boolean;
  /** Processes that serve; with one there is no cluster. */
  readonly workers: number;
  /** Whether that many are only the most: as many as the database has connections for. */
  readonly autoWorkers: boolean;
  readonly bootstrapKeys: readonly BootstrapKey[];
  readonly serviceName: string;
  readonly logLevel: (typeof logLevels)[number];
  /** Whether every request is logged. */
  readonly accessLog: boolean;
  /** The token that a scraper of /metrics must send; undefined when only this machine may scrape. */
  readonly metricsToken: string | undefined;
  /** Newest first; empty when the key file of the data folder is used. */
  readonly secretKeys: readonly Uint8Array[];
  readonly callbacks: CallbackPolicy;
  /** Management requests a minute for each key; 0 for no limit. */
  readonly rateLimit: number;
  /** Failed authentications a minute for each address; 0 for no limit. */
  readonly authFailureLimit: number;
  /** Sign-ins, and reports of usage, a minute for each address; 0 for no limit. */
  readonly addressLimit: number;
  /** Connections that one process holds at once; most of them may be event streams. */
  readonly maxConnections: number;
  /** Of them from one address; 0 for no limit. */
  readonly maxPerAddress: number;
  /** Milliseconds of event loop lag beyond which evaluations are refused; 0 for no limit. */
  readonly maxLag: number;
  /** Environments that there may be. */
  readonly maxEnvironments: number;
  /** Contexts of an environment that previews count with; 0 to keep none. */
  readonly sampledContexts: number;
  /** Milliseconds for which history is kept; 0 for as long as its environment exists. */
  readonly historyRetention: number;
  /** Milliseconds for which a server that was asked to stop continues to serve, unready. */
  readonly shutdownDelay: number;
  readonly trustProxy: boolean | string;
  /** Where clients reach this server, without a trailing slash; undefined to take it from the requests. */
  readonly publicUrl: string | undefined;
  readonly dashboard: boolean;
  /** What MCP at /mcp offers: nothing, tools that read, or those that change flags too. */
  readonly mcp: "off" | "read" | "write";
  /** OpenID Connect providers that people sign in with. */
  readonly providers: readonly ProviderSettings[];
  /** Whether a start prints a link that signs in to the dashboard once. */
  readonly signInLink: boolean;
  /** Whether events tell the e-mail address of the person who made a change. */
  readonly eventEmails: boolean;
  /** Whether evaluations over OFREP tell the version of each flag and its environment. */
  readonly ofrepMetadata: boolean;
  /** Milliseconds after which a session of the dashboard that nobody uses is over. */
  readonly sessionIdle: number;
  /** Milliseconds after which every session of the dashboard is over. */
  readonly sessionLifetime: number;
  /** Variables that begin with HALYARD_ but are not settings: most likely misspelt. */
  readonly unknown: readonly string[];
}

/** For the commands that talk to a server; they may be in the same settings file. */
const clientSettings = ["HALYARD_URL", "HALYARD_API_KEY", "HALYARD_PROFILE", "HALYARD_CONFIG"];

const mcpModes: Readonly<Record<string, Config["mcp"]>> = {
  on: "write",
  "read-only": "read",
  off: "off",
};
const readMcp = (text: string): Config["mcp"] | undefined =>
  Object.hasOwn(mcpModes, text) ? mcpModes[text] : undefined;

export const parseConfig = (variables: Variables): Config => {
  const mistakes: string[] = [];
  const known = new Set([...clientSettings, providersSetting]);

  const reader = createSettingReader(variables, known, mistakes);
  const { setting, count } = reader;

  const host = setting("HOST", "127.0.0.1", "a host name or an IP address", (text) =>
    /^[A-Za-z0-9.:_-]+$/.test(text) ? text : undefined,
  );
  const loopback = isLoopbackHost(host);

  const trustProxy = setting<boolean | string>(
    "HALYARD_TRUST_PROXY",
    false,
    "true, false, or the addresses and networks of the proxies separated by commas",
    readTrustProxy,
  );
  const publicUrl = setting<string | undefined>(
    "HALYARD_PUBLIC_URL",
    undefined,
    "the http or https address at which clients reach this server, such as https://flags.example.com",
    readPublicUrl,
  );
  // Nobody else can reach it, neither directly nor through a proxy.
  const isDeveloperMachine = loopback && trustProxy === false && publicUrl === undefined;
  const maxConnections = count("HALYARD_MAX_CONNECTIONS", 25_000, 1, 1_000_000);
  const port = count("PORT", 4_400, 0, 65_535);
  const config: Config = {
    host,
    port,
    flagd: readFlagdSettings(reader, port, mistakes),
    database: readDatabase(reader, variables, mistakes),
    workers: setting("HALYARD_WORKERS", 1, "a whole number from 1 to 64, or auto", (text) =>
      text === "auto" ? Math.min(64, availableParallelism()) : whole(1, 64)(text),
    ),
    autoWorkers: variables.HALYARD_WORKERS?.trim() === "auto",
    bootstrapKeys: setting<Config["bootstrapKeys"]>(
      "HALYARD_BOOTSTRAP_KEYS",
      [],
      `a list such as development=KEY,production=KEY: each environment once, named with ${environmentNameRule}; each key different, 20 to 200 visible ASCII characters that nobody would guess, such as those of openssl rand -hex 24`,
      readBootstrapKeys,
    ),
    mayMigrate: setting("HALYARD_MIGRATE", true, "auto or off", (text) =>
      text === "auto" || text === "off" ? text === "auto" : undefined,
    ),
    serviceName: setting(
      "HALYARD_SERVICE_NAME",
      defaultServiceName,
      "1 to 40 letters, digits or hyphens: it becomes part of header names",
      (text) => (/^[A-Za-z0-9]([A-Za-z0-9-]{0,38}[A-Za-z0-9])?$/.test(text) ? text : undefined),
    ),
    logLevel: setting("HALYARD_LOG_LEVEL", "info", `one of ${logLevels.join(", ")}`, (text) =>
      logLevels.find((level) => level === text),
    ),
    accessLog: setting("HALYARD_ACCESS_LOG", false, "on or off", readSwitch),
    metricsToken: setting<string | undefined>(
      "HALYARD_METRICS_TOKEN",
      undefined,
      "20 to 200 visible ASCII characters without spaces",
      (text) => (/^[!-~]{20,200}$/.test(text) ? text : undefined),
    ),
    secretKeys: setting<readonly Uint8Array[]>(
      "HALYARD_SECRET_KEY",
      [],
      "32 bytes as 64 hexadecimal digits or as base64 (openssl rand -base64 32); several separated by commas, newest first",
      (text) => all(text.split(","), readSecretKey),
    ),
    callbacks: {
      loopback: setting("HALYARD_CALLBACK_LOOPBACK", isDeveloperMachine, "on or off", readSwitch),
      ports: setting<readonly number[]>(
        "HALYARD_CALLBACK_PORTS",
        [443, 8443],
        "port numbers separated by commas",
        (text) => all(text.split(","), (port) => whole(1, 65_535)(port.trim())),
      ),
      allow: setting<readonly AllowedPlace[]>(
        "HALYARD_CALLBACK_ALLOW",
        [],
        "addresses, networks or names separated by commas, such as 10.1.0.0/16,hooks.internal",
        (text) => all(text.split(","), (place) => parseAllowedPlace(place.trim())),
      ),
    },
    rateLimit: setting(
      "HALYARD_RATE_LIMIT",
      loopback ? 0 : 6_000,
      "a whole number of requests a minute, 0 for no limit",
      whole(0, 999_999_999),
    ),
    authFailureLimit: setting(
      "HALYARD_AUTH_FAILURE_LIMIT",
      loopback ? 0 : 60,
      "a whole number of failures a minute, 0 for no limit",
      whole(0, 999_999_999),
    ),
    addressLimit: setting(
      "HALYARD_ADDRESS_LIMIT",
      loopback ? 0 : 600,
      "a whole number of requests a minute, 0 for no limit",
      whole(0, 999_999_999),
    ),
    maxConnections,
    // A proxy brings everybody's connections from its own address.
    maxPerAddress: setting(
      "HALYARD_MAX_CONNECTIONS_PER_ADDRESS",
      loopback || trustProxy !== false ? 0 : Math.ceil(maxConnections / 5),
      "a whole number from 0 to 1000000, 0 for no limit",
      whole(0, 1_000_000),
    ),
    maxLag: setting(
      "HALYARD_MAX_LAG",
      500,
      "a whole number of milliseconds from 0 to 60000, 0 for no limit",
      whole(0, 60_000),
    ),
    maxEnvironments: count("HALYARD_MAX_ENVIRONMENTS", 100, 1, 10_000),
    sampledContexts: setting(
      "HALYARD_CONTEXT_SAMPLE",
      10_000,
      "a whole number of contexts from 0 to 100000, 0 to keep none",
      whole(0, 100_000),
    ),
    historyRetention: 86_400_000 * count("HALYARD_HISTORY_DAYS", 0, 0, 36_500, "days"),
    shutdownDelay: 1_000 * count("HALYARD_SHUTDOWN_DELAY", 0, 0, 60, "seconds"),
    trustProxy,
    publicUrl,
    dashboard: setting("HALYARD_DASHBOARD", true, "on or off", readSwitch),
    mcp: setting<Config["mcp"]>("HALYARD_MCP", "off", "on, read-only or off", readMcp),
    providers: readProviders(variables, publicUrl, mistakes),
    signInLink: setting("HALYARD_SIGN_IN_LINK", isDeveloperMachine, "on or off", readSwitch),
    eventEmails: setting("HALYARD_EVENT_EMAILS", false, "on or off", readSwitch),
    ofrepMetadata: setting("HALYARD_OFREP_METADATA", false, "on or off", readSwitch),
    sessionIdle: 60_000 * count("HALYARD_SESSION_IDLE", 60, 5, 720, "minutes"),
    sessionLifetime: 3_600_000 * count("HALYARD_SESSION_LIFETIME", 12, 1, 720, "hours"),
    // Last, when every setting has been read.
    unknown: Object.keys(variables)
      .filter((name) => name.startsWith("HALYARD_") && !known.has(name))
      .sort(),
  };

  refuseMistakes(mistakes);
  return config;
};
