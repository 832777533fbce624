// halyard doctor: looks at settings, store, clock, callbacks and keys, and says what is wrong and how to mend it.
import { version } from "@halyard/server/version";
import { Command } from "commander";
import { type Check, fail, type Level } from "../../doctor/check.ts";
import { callbackChecks, keyChecks } from "../../doctor/row-checks.ts";
import { type AskedServer, rowsOfServer, serverChecks } from "../../doctor/server-checks.ts";
import { mistakeChecks, nodeCheck, settingChecks } from "../../doctor/settings-checks.ts";
import { secretKeyChecks, storeChecks } from "../../doctor/store-checks.ts";
import { dataOption, type OperatorOptions } from "../../operator.ts";
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
      "look at settings, store, clock, callbacks and keys: what is wrong, how to mend it",
    )
    .option(...dataOption)
    .addHelpText(
      "after",
      `
It looks at the store of the settings here (DATABASE_URL, or the data folder) and at the server that is named, or else at
the address of the settings. It changes nothing, migrates nothing and calls no receiver. A server elsewhere is looked at
alone when there is no store here. It ends with 1 when something FAILs; a WARN can wait.

Examples:
  halyard doctor
  halyard doctor --data /var/lib/halyard
  halyard doctor --url https://flags.example.com --key "$KEY"`,
    )
    .action(examine);

const examine = async (options: DoctorOptions): Promise<void> => {
  const checks: Check[] = [nodeCheck()];
  const here = await examineHere(options);
  checks.push(...here.checks);
  checks.push(...(await examineServer(options, here)));
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

interface Here {
  readonly checks: Check[];
  /** Whether the store was there to be looked at. */
  readonly sawStore: boolean;
  /** Where a server with these settings would be; undefined when they are wrong. */
  readonly url: string | undefined;
}

const examineHere = async (options: DoctorOptions): Promise<Here> => {
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
  const url = addressOf(config);
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
  return { checks, sawStore: true, url };
};

const addressOf = ({ host, port }: { readonly host: string; readonly port: number }): string => {
  const everywhere: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };
  const name = everywhere[host] ?? host;
  return `http://${name.includes(":") ? `[${name}]` : name}:${port}`;
};

const examineServer = async (options: DoctorOptions, here: Here): Promise<Check[]> => {
  const isNamed = isServerNamed(options);
  try {
    const { url, key, management } = isNamed || options.key ? connectOrAsk(options) : nobody(here);
    if (url === undefined) return [];
    const server: AskedServer = { url, key, isNamed };
    const checks = await serverChecks(server, version);
    if (!management || checks[0]?.level === "fail") return checks;
    const { checks: more, rows } = await rowsOfServer(server, management);
    // A store that was looked at itself says the same, and more.
    if (!rows || here.sawStore) return [...checks, ...more];
    const now = Date.now();
    return [...checks, ...more, ...callbackChecks(rows, new Map(), now), ...keyChecks(rows, now)];
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return [fail("server", error.message.replace(/\.$/, ""), "see halyard profiles --help")];
  }
};

const nobody = ({ url }: Here) => ({ url, key: undefined, management: undefined });

/** A key is not needed to ask how a server is. */
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

const words: Readonly<Record<Level, string>> = {
  ok: coloured("green", "OK  "),
  warn: coloured("yellow", "WARN"),
  fail: coloured("red", "FAIL"),
};

const printCheck = ({ level, about, message, remedy }: Check): void => {
  const said = `${about}: ${message}${remedy === null ? "" : `. To mend it: ${remedy}`}`;
  print(`${words[level]} ${inOneLine(said)}`);
};
