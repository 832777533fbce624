// What happens once per start, however many processes there are: keys for an empty store, and warnings for the operator.
import type { Logger } from "pino";
import type { FirstKey } from "../features/environments/bootstrap.ts";
import type { Environments } from "../features/environments/environments.ts";
import type { SignInLinks } from "../features/people/sign-in/links.ts";
import { StartupProblem } from "../platform/errors.ts";
import type { DashboardAddress } from "./listening.ts";
import type { Config } from "./settings/config.ts";

interface Opened {
  readonly environments: Environments;
  /** Webhooks and people whose secret was encrypted with a key that is missing. */
  readonly unreadableSecrets: () => Promise<readonly string[]>;
  /** The name of the database when all that is sent to it crosses a network unencrypted. */
  readonly unencryptedTo: string | undefined;
}

/** Returns the keys that it generated, to be shown once. */
export const makeFirstKeys = async (
  config: Config,
  { environments, unreadableSecrets, unencryptedTo }: Opened,
  log: Logger,
): Promise<readonly FirstKey[]> => {
  for (const name of config.unknown)
    log.warn({ setting: name }, "unknown setting; is it misspelt?");
  if (unencryptedTo !== undefined) {
    log.warn(
      { database: unencryptedTo },
      "the connection to PostgreSQL is not encrypted and leaves this machine: use sslmode=verify-full in DATABASE_URL",
    );
  }
  const first = await environments.bootstrap(config.bootstrapKeys);
  if (!first.ok) throw new StartupProblem(first.failure.message);
  for (const id of await unreadableSecrets()) {
    if (id.startsWith("usr_")) {
      log.error(
        { user: id },
        "the second factor cannot be decrypted: its key is missing, so its owner cannot sign in with a password",
      );
    } else if (id === "installation") {
      log.error(
        "the addresses of accounts cannot be compared: the secret key is missing, so approvals and sign-ins with a provider are refused",
      );
    } else {
      log.error(
        { webhook: id },
        "the webhook's secret cannot be decrypted: its key is missing, so nothing is sent to it",
      );
    }
  }
  return first.value;
};

/** Where to find the dashboard; undefined when there is none. */
export const dashboardAddress = async (
  { dashboard, signInLink, publicUrl }: Config,
  links: SignInLinks,
  listensAt: string,
): Promise<DashboardAddress | undefined> => {
  if (!dashboard) return undefined;
  const url = publicUrl ?? listensAt;
  return signInLink
    ? { url: `${url}/sign-in?once=${await links.issue()}`, signsIn: true }
    : { url, signsIn: false };
};
