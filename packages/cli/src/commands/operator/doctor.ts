// halyard doctor: checks settings, database, clock, callbacks and keys, and prints how to fix each problem.
import { existsSync } from "node:fs";
import { version } from "@halyard/server/version";
import { Command } from "commander";
import { type Check, fail, type Level, ok } from "../../doctor/check.ts";
import { databaseChecks, secretKeyChecks } from "../../doctor/database-checks.ts";
import { historyChecks } from "../../doctor/history-checks.ts";
import { callbackChecks, keyChecks } from "../../doctor/row-checks.ts";
import { type CheckedServer, rowsOfServer, serverChecks } from "../../doctor/server-checks.ts";
import { mistakeChecks, nodeCheck, settingChecks } from "../../doctor/settings-checks.ts";
import { dataOption, localAddress, type OperatorOptions, variablesWith } from "../../operator.ts";
import { addressOf, dataHint, givenAddress } from "../../server-connection/address.ts";
import {
  type ConnectionOptions,
  connect,
  connectTo,
  serverCommand,
} from "../../server-connection/connection.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, colored, inOneLine, print, printJson } from "../../terminal/output.ts";

type DoctorOptions = OperatorOptions & ConnectionOptions;

export const doctorCommand = (): Command =>
  serverCommand(new Command("doctor"))
    .description(
      "check settings, database, clock, callbacks and keys, and print how to fix each problem",
    )
    .option(...dataOption)
    .addHelpText(
      "after",
      `
With an address (--url, HALYARD_URL or a profile), it checks that server. With --data, or without an address, it checks
the database of the settings and the server of these settings; --data together with --url names another server. It
changes nothing, migrates nothing and calls no receiver. It exits with 1 if a check FAILs, but not for a WARN.

Examples:
  halyard doctor
  halyard doctor --data /var/lib/halyard
  halyard doctor --url https://flags.example.com --key "$HALYARD_API_KEY"`,
    )
    .action(examine);

const examine = async (options: DoctorOptions): Promise<void> => {
  const checks: Check[] = [nodeCheck()];
  const named = namedServer(options);
  const here = await checkLocal(options, named);
  checks.push(...here.checks);
  checks.push(...(await checkServer(options, named, here)));
  const failed = checks.filter(({ level }) => level === "fail").length;
  if (options.json) printJson({ healthy: failed === 0, checks });
  else for (const check of checks) printCheck(check);
  process.exitCode = failed === 0 ? exitCodes.done : exitCodes.failed;
};

/** The source of the address to check. With --data, only the command line can specify one; otherwise the server of the settings is checked. */
const namedServer = ({ data, ...options }: DoctorOptions): string | undefined => {
  if (data !== undefined && (options.url ?? options.profile) === undefined) return undefined;
  try {
    return givenAddress(options)?.by;
  } catch {
    // The profile doesn't exist; the server check reports it.
    return "a profile";
  }
};

interface LocalChecks {
  readonly checks: Check[];
  /** Whether the database could be checked. */
  readonly checkedDatabase: boolean;
  /** The address of a server with these settings; undefined if they are invalid. */
  readonly url: string | undefined;
}

const checkLocal = async (
  { data }: DoctorOptions,
  named: string | undefined,
): Promise<LocalChecks> => {
  const { parseConfig } = await import("@halyard/server/settings");
  const { inspect, inspectCallback } = await import("@halyard/server/operator/doctor");
  const settings = variablesWith(data);
  let config: ReturnType<typeof parseConfig>;
  try {
    config = parseConfig(settings);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { checks: mistakeChecks(message), checkedDatabase: false, url: undefined };
  }
  const checks = settingChecks(config);
  const url = localAddress(config);
  if (data === undefined && named !== undefined) {
    const isHere = config.database.kind === "postgres" || existsSync(config.database.folder);
    return {
      checks: [...checks, ...(isHere ? [notChecked(named)] : [])],
      checkedDatabase: false,
      url,
    };
  }
  const { store, secretKey } = await inspect(config);
  checks.push(...databaseChecks(store, config));
  const rows = "rows" in store ? store.rows : undefined;
  if (store.kind === "absent") return { checks, checkedDatabase: false, url };
  checks.push(...secretKeyChecks(secretKey, rows?.unreadableSecrets ?? []));
  if (!rows) return { checks, checkedDatabase: false, url };
  const active = rows.webhooks.filter((webhook) => webhook.active);
  const findings = await Promise.all(
    active.map(async ({ id, url: to }) => [id, await inspectCallback(config, to)] as const),
  );
  checks.push(...callbackChecks(rows, new Map(findings), Date.now()));
  checks.push(...keyChecks(rows, Date.now()));
  checks.push(...historyChecks(rows));
  return { checks, checkedDatabase: true, url };
};

const notChecked = (named: string): Check =>
  ok("database", `not checked, because ${named} names a server; ${dataHint()} checks the database`);

const checkServer = async (
  options: DoctorOptions,
  named: string | undefined,
  here: LocalChecks,
): Promise<Check[]> => {
  try {
    const { url, key, management } =
      named === undefined ? serverOf(here, options) : connectOrAsk(options);
    if (url === undefined) return [];
    const server: CheckedServer = { url, key, isNamed: named !== undefined };
    const checks = await serverChecks(server, version);
    if (!management || checks[0]?.level === "fail") return checks;
    const { checks: more, rows } = await rowsOfServer(management);
    // The checks of the database found the same problems, and more.
    if (!rows || here.checkedDatabase) return [...checks, ...more];
    const now = Date.now();
    return [...checks, ...more, ...callbackChecks(rows, new Map(), now), ...keyChecks(rows, now)];
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return [fail("server", error.message.replace(/\.$/, ""), "see halyard profiles --help")];
  }
};

/** The server of the local settings. */
const serverOf = ({ url }: LocalChecks, { key }: DoctorOptions) =>
  url === undefined || key === undefined
    ? { url, key: undefined, management: undefined }
    : connectTo({ url, key });

/** The health checks of a server need no key. */
const connectOrAsk = (options: DoctorOptions) => {
  try {
    return connect(options);
  } catch (error) {
    const needsKey = error instanceof CommandFailed && error.exitCode === exitCodes.refused;
    if (!needsKey) throw error;
    return { url: addressOf(options), key: undefined, management: undefined };
  }
};

const labels: Readonly<Record<Level, string>> = {
  ok: colored("green", "OK  "),
  warn: colored("yellow", "WARN"),
  fail: colored("red", "FAIL"),
};

const printCheck = ({ level, about, message, remedy }: Check): void => {
  const said = `${about}: ${message}${remedy === null ? "" : `. To fix it: ${remedy}`}`;
  print(`${labels[level]} ${inOneLine(said)}`);
};
