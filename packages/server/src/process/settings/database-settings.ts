// Where the data is: a folder for the embedded store, or a PostgreSQL URL with libpq's options.
import { resolve } from "node:path";
import type { SettingReader, Variables } from "./setting-reader.ts";

export type DatabaseSettings =
  | { readonly kind: "embedded"; readonly folder: string }
  | {
      readonly kind: "postgres";
      /** Without the TLS options, which are below. */
      readonly url: string;
      /** For display, without the password. */
      readonly name: string;
      readonly host: string;
      readonly poolSize: number;
      readonly timeout: number;
      readonly tls: {
        readonly mode: TlsMode;
        readonly rootCertificate: string | undefined;
        readonly certificate: string | undefined;
        readonly key: string | undefined;
      };
    };

const tlsModes = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;
type TlsMode = (typeof tlsModes)[number];

/** Unknown options are rejected: ignoring one could mean less security than the operator asked for. */
const passedOn = ["host", "port", "user", "password", "application_name", "options"];
const ofTls = ["sslmode", "sslrootcert", "sslcert", "sslkey", "channel_binding"];
const withoutEffect = ["connect_timeout", "target_session_attrs", "client_encoding", "keepalives"];
const knownOptions = new Set([...passedOn, ...ofTls, ...withoutEffect]);

type PostgresPlace = Omit<Extract<DatabaseSettings, { kind: "postgres" }>, "poolSize" | "timeout">;

/** A string says what is wrong and continues the name of the setting. Of the URL it contains only names of options. */
const readDatabaseUrl = (text: string, variables: Variables): PostgresPlace | string => {
  const shape = "must be a URL such as postgres://user:password@host:5432/database";
  const [, address, query = ""] = /^(postgres(?:ql)?:\/\/[^?#]*)(?:\?([^#]*))?$/i.exec(text) ?? [];
  if (address === undefined) return shape;
  const options = new URLSearchParams(query);
  const unknown = [...options.keys()].filter((name) => !knownOptions.has(name));
  if (unknown.length > 0) return `has unknown options: ${unknown.join(", ")}`;

  const parsed = parseAddress(address);
  if (!parsed) return shape;
  const host = options.get("host") ?? (parsed.hostname || variables.PGHOST) ?? "localhost";
  if (host.includes(",")) return "must name one host";
  const mode = options.get("sslmode") ?? variables.PGSSLMODE ?? "prefer";
  if (!isTlsMode(mode)) {
    const where = options.has("sslmode") ? "has an sslmode" : "comes with a PGSSLMODE";
    return `${where} that is not one of ${tlsModes.join(", ")}`;
  }
  // Channel binding is used when the server offers it, but cannot be required: verify-full gives the same guarantee.
  if (options.get("channel_binding") === "require" && mode !== "verify-full") {
    return "asks for channel_binding=require, which needs sslmode=verify-full here";
  }
  const port = options.get("port") ?? (parsed.port || variables.PGPORT) ?? "5432";
  const database = parsed.database || variables.PGDATABASE || parsed.user;
  const kept = new URLSearchParams([...options].filter(([name]) => passedOn.includes(name)));
  return {
    kind: "postgres",
    url: kept.size > 0 ? `${address}?${kept.toString()}` : address,
    name: `${host}:${port}/${database}`,
    host,
    tls: {
      mode,
      rootCertificate: options.get("sslrootcert") ?? variables.PGSSLROOTCERT,
      certificate: options.get("sslcert") ?? variables.PGSSLCERT,
      key: options.get("sslkey") ?? variables.PGSSLKEY,
    },
  };
};

const isTlsMode = (text: string): text is TlsMode => tlsModes.some((mode) => mode === text);

const parseAddress = (address: string) => {
  try {
    // URL() rejects a user without a host, which libpq allows for Unix sockets.
    const url = new URL(address.replace("@/", "@nowhere/"));
    return {
      hostname: address.includes("@/")
        ? ""
        : decodeURIComponent(url.hostname).replace(/^\[|\]$/g, ""),
      port: url.port,
      user: decodeURIComponent(url.username),
      database: decodeURIComponent(url.pathname.slice(1)),
      // Decoded only to check it: otherwise it would fail later with a worse message.
      password: decodeURIComponent(url.password).length,
    };
  } catch {
    return undefined;
  }
};

export const readDatabase = (
  { setting, count }: SettingReader,
  variables: Variables,
  mistakes: string[],
): DatabaseSettings => {
  const folder = resolve(setting("HALYARD_DATA", "data", "a folder", (text) => text));
  const poolSize = count("HALYARD_POOL_SIZE", 10, 2, 100, "connections");
  const timeout = 1_000 * count("HALYARD_POSTGRES_TIMEOUT", 10, 1, 600, "seconds");
  const url = variables.DATABASE_URL?.trim() ?? "";
  if (url === "") return { kind: "embedded", folder };
  if ((variables.HALYARD_SECRET_KEY?.trim() ?? "") === "") {
    mistakes.push(
      "HALYARD_SECRET_KEY must be set together with DATABASE_URL, and be the same for every instance: generate one with openssl rand -base64 32, and keep it.",
    );
  }
  const place = readDatabaseUrl(url, variables);
  if (typeof place !== "string") return { ...place, poolSize, timeout };
  mistakes.push(`DATABASE_URL ${place}.`);
  return { kind: "embedded", folder };
};
