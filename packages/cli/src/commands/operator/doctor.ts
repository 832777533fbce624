// halyard doctor: checks settings, store, clock, callbacks and keys, and says how to fix each problem.
import { version } from "@halyard/server/version";
import { Command } from "commander";
import { type Check, fail, type Level } from "../../doctor/check.ts";
import { historyChecks } from "../../doctor/history-checks.ts";
import { callbackChecks, keyChecks } from "../../doctor/row-checks.ts";
import { type AskedServer, rowsOfServer, serverChecks } from "../../doctor/server-checks.ts";
import { mistakeChecks, nodeCheck, settingChecks } from "../../doctor/settings-checks.ts";
import { secretKeyChecks, storeChecks } from "../../doctor/store-checks.ts";
import { dataOption, localAddress, type OperatorOptions } from "../../operator.ts";
import {
  type ConnectionOptions,
  connect,
  serverCommand,
} from "../../server-connection/connection.ts";
import { readProfiles } from "../../server-connection/profiles.ts";
import { exitCodes } from "../../terminal/exit-codes.ts";
import { CommandFailed, coloured, inOneLine, print, printJson } from "../../terminal/output.ts";

type DoctorOptions = OperatorOptions & ConnectionOptions;

export const doctorCommand = (): Command =>
  serverCommand(new Command("doctor"))
    .description(
      "check settings, store, clock, callbacks and keys, and say how to fix each problem",
    )
    .option(...dataOption)
    .addHelpText(
      "after",
      `
It checks the store of the local settings (DATABASE_URL, or the data folder) and the server that you name, or else the
one at the address in the settings. Without a local store it checks only the server. It changes nothing, migrates
nothing and calls no receiver. It exits with 1 if a check FAILs; a WARN can wait.

Examples:
  halyard doctor
  halyard doctor --data /var/lib/halyard
  halyard doctor --url https://flags.example.com --key "$HALYARD_API_KEY"`,
    )
    .action(examine);

const examine = async (options: DoctorOptions): Promise<void> => {
  const checks: Check[] = [nodeCheck()];
  const here = await checkLocal(options);
  checks.push(...here.checks);
  checks.push(...(await checkServer(options, here)));
  const failed = checks.filter(({ level }) => level === "fail").length;
  if (options.json) printJson({ healthy: failed === 0, checks });
  else for (const check of checks) printCheck(check);
  process.exitCode = failed === 0 ? exitCodes.done : exitCodes.failed;
};

const isServerNamed = ({ url, profile }: DoctorOptions): boolean => {
  const { HALYARD_URL, HALYARD_PROFILE } = process.env;
  if (url ?? profile) return true;
  if (HALYARD_URL || HALYARD_PROFILE) return true;
  try {
    return readProfiles().current !== undefined;
  } catch {
    return false;
  }
};

interface LocalChecks {
  readonly checks: Check[];
  /** Whether the store could be checked. */
  readonly sawStore: boolean;
  /** The address of a server with these settings; undefined when they are wrong. */
  readonly url: string | undefined;
}

const checkLocal = async (options: DoctorOptions): Promise<LocalChecks> => {
  const { parseConfig } = await import("@halyard/server/config");
  const { inspect, inspectCallback } = await import("@halyard/server/compose/doctor");
  const { data } = options;
  const chosen = data === undefined ? {} : { HALYARD_DATA: data, DATABASE_URL: undefined };
  const settings: NodeJS.ProcessEnv = { ...process.env, ...chosen };
  let config: ReturnType<typeof parseConfig>;
  try {
    config = parseConfig(settings);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { checks: mistakeChecks(message), sawStore: false, url: undefined };
  }
  const checks = settingChecks(config);
  const url = localAddress(config);
  const { store, secretKey } = await inspect(config);
  const isMeant = (settings.HALYARD_DATA ?? "") + (settings.DATABASE_URL ?? "") !== "";
  if (store.kind === "absent" && !isMeant && isServerNamed(options)) {
    return { checks, sawStore: false, url };
  }
  checks.push(...storeChecks(store, config));
  const rows = "rows" in store ? store.rows : undefined;
  if (store.kind === "absent") return { checks, sawStore: false, url };
  checks.push(...secretKeyChecks(secretKey, rows?.unreadableSecrets ?? []));
  if (!rows) return { checks, sawStore: false, url };
  const active = rows.webhooks.filter((webhook) => webhook.active);
  const findings = await Promise.all(
    active.map(async ({ id, url: to }) => [id, await inspectCallback(config, to)] as const),
  );
  checks.push(...callbackChecks(rows, new Map(findings), Date.now()));
  checks.push(...keyChecks(rows, Date.now()));
  checks.push(...historyChecks(rows));
  return { checks, sawStore: true, url };
};

const checkServer = async (options: DoctorOptions, here: LocalChecks): Promise<Check[]> => {
  const isNamed = isServerNamed(options);
  try {
    const { url, key, management } =
      isNamed || options.key ? connectOrAsk(options) : withoutKey(here);
    if (url === undefined) return [];
    const server: AskedServer = { url, key, isNamed };
    const checks = await serverChecks(server, version);
    if (!management || checks[0]?.level === "fail") return checks;
    const { checks: more, rows } = await rowsOfServer(management);
    // The checks of the store itself found the same, and more.
    if (!rows || here.sawStore) return [...checks, ...more];
    const now = Date.now();
    return [...checks, ...more, ...callbackChecks(rows, new Map(), now), ...keyChecks(rows, now)];
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return [fail("server", error.message.replace(/\.$/, ""), "see halyard profiles --help")];
  }
};

const withoutKey = ({ url }: LocalChecks) => ({ url, key: undefined, management: undefined });

/** The health checks of a server need no key. */
const connectOrAsk = (options: DoctorOptions) => {
  try {
    return connect(options);
  } catch (error) {
    const url = options.url ?? process.env.HALYARD_URL;
    const needsKey = error instanceof CommandFailed && error.exitCode === exitCodes.refused;
    if (!needsKey || !url) throw error;
    return { url, key: undefined, management: undefined };
  }
};

const labels: Readonly<Record<Level, string>> = {
  ok: coloured("green", "OK  "),
  warn: coloured("yellow", "WARN"),
  fail: coloured("red", "FAIL"),
};

const printCheck = ({ level, about, message, remedy }: Check): void => {
  const said = `${about}: ${message}${remedy === null ? "" : `. To fix it: ${remedy}`}`;
  print(`${labels[level]} ${inOneLine(said)}`);
};
