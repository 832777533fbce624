// How to connect to PostgreSQL: timeouts, types and TLS, with libpq's meaning of its options.
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  type ConnectionOptions,
  checkServerIdentity,
  getCACertificates,
  type PeerCertificate,
} from "node:tls";
import { type ClientConfig, types } from "pg";
import { StartupProblem } from "../../errors.ts";
import { messageOf } from "./errors.ts";
import { unescapeText } from "./pipeline.ts";

export interface TlsSettings {
  readonly mode: "disable" | "prefer" | "require" | "verify-ca" | "verify-full";
  /** Files; by default those that libpq would use. `system` means the machine's certificate authorities. */
  readonly rootCertificate?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export interface PostgresSettings {
  /** Without the TLS options. */
  readonly url: string;
  /** For display, without the password. */
  readonly name: string;
  readonly host: string;
  readonly poolSize: number;
  /** Milliseconds that a statement may take; connecting and waiting get parts of it. */
  readonly timeout: number;
  readonly tls: TlsSettings;
}

const int8 = 20;
const textTypes = new Set<number>([25, 1043]);
const parsers: NonNullable<ClientConfig["types"]> = {
  getTypeParser(id: number, format?: "text" | "binary") {
    if (id === int8) return Number;
    if (textTypes.has(id)) return unescapeText;
    return types.getTypeParser(id, format);
  },
};

/** For a lock, a connection, or the end of a conflict with others. */
export const longestWait = (timeout: number): number => Math.ceil(timeout / 2);

export const clientSettings = (
  { url, timeout }: Pick<PostgresSettings, "url" | "timeout">,
  ssl: ConnectionOptions | false,
): ClientConfig => ({
  connectionString: url,
  ssl,
  types: parsers,
  application_name: "halyard",
  connectionTimeoutMillis: Math.ceil(timeout * 0.3),
  statement_timeout: timeout,
  // A little longer than the server's own, for a server or a network that does not answer.
  query_timeout: timeout + 2_000,
  lock_timeout: longestWait(timeout),
  idle_in_transaction_session_timeout: timeout + 5_000,
  enableChannelBinding: ssl !== false,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  pipeline: true,
});

const read = (what: string, path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartupProblem(
      `The file ${path}, given as ${what} for PostgreSQL, cannot be read (${messageOf(error)}).`,
    );
  }
};

const inHome = (name: string): string | undefined => {
  const path = join(homedir(), ".postgresql", name);
  return existsSync(path) ? path : undefined;
};

/** Whether what is sent crosses a network that others may listen to. */
export const isUnencrypted = (
  { host }: Pick<PostgresSettings, "host">,
  ssl: ConnectionOptions | false,
): boolean => ssl === false && !/^(\/|localhost$|127(\.\d+){3}$|::1$)/.test(host);

export const tlsOptions = ({ tls, host }: PostgresSettings): ConnectionOptions | false => {
  // As with libpq, a Unix socket is not encrypted.
  if (tls.mode === "disable" || host.startsWith("/")) return false;
  const root = tls.rootCertificate ?? inHome("root.crt");
  const isNamed = root !== undefined && root !== "system";
  if ((tls.mode === "verify-ca" && !isNamed) || (tls.mode === "require" && root === "system")) {
    throw new StartupProblem(
      `sslmode=${tls.mode} of PostgreSQL needs a file of certificate authorities in sslrootcert: anyone can get a certificate from a public authority, so use sslmode=verify-full for those.`,
    );
  }
  const certificate = tls.certificate ?? inHome("postgresql.crt");
  const key = tls.key ?? inHome("postgresql.key");
  const own = {
    ...(certificate !== undefined && { cert: read("sslcert", certificate) }),
    ...(certificate !== undefined && key !== undefined && { key: read("sslkey", key) }),
  };
  const authorities = {
    ca: isNamed
      ? read("sslrootcert", root)
      : [...getCACertificates("system"), ...getCACertificates("bundled")],
  };
  const matchingName = {
    ...authorities,
    checkServerIdentity: (_: string, peer: PeerCertificate) => checkServerIdentity(host, peer),
  };
  const anyName = { ...authorities, checkServerIdentity: () => undefined };
  switch (tls.mode) {
    case "prefer":
      return { ...own, rejectUnauthorized: false };
    case "require":
      // With sslrootcert, libpq checks the certificate in this mode too.
      return !isNamed ? { ...own, rejectUnauthorized: false } : { ...own, ...anyName };
    case "verify-ca":
      return { ...own, ...anyName };
    case "verify-full":
      return { ...own, ...matchingName };
  }
};
