// Describes where a command works, and confirms for confirmation of changes in production.
import { isProductionName } from "@halyard/core/environment-name";
import type { OwnApiKey } from "@halyard/sdk/management";
import { confirm, isAtTerminal } from "../terminal/ask.ts";
import { inOneLine } from "../terminal/output.ts";
import { answered, type Connection } from "./connection.ts";

/** The server's information about the key. Fails if the server is unavailable or the key is invalid. */
export const checkKey = async (connection: Connection): Promise<OwnApiKey> =>
  answered(connection, await connection.management.keys.current());

export interface Place {
  /** Such as `in staging at https://flags.example.com`. */
  readonly text: string;
  /** The same place as JSON. */
  readonly json: { readonly environment: string; readonly server: string };
  /** Whether changes require confirmation. */
  readonly confirms: boolean;
  /** Whether changes are sent as one request each: the environment is protected, or the command is a preview. */
  readonly proposes: boolean;
}

/** Always confirms the server, even if the profile has the values, because they could be outdated. */
export const placeOf = async (connection: Connection): Promise<Place> => {
  const { url: server, production, bypass, isPreview } = connection;
  const { environment, proposes = false } = await checkKey(connection);
  return {
    text: inOneLine(`in ${environment} at ${server}`),
    json: { environment, server },
    proposes: isPreview || (proposes && !bypass),
    confirms: !isPreview && needsConfirmation(production, environment),
  };
};

/** Without a terminal, only an explicit mark requires confirmation, so that scripts keep working. */
const needsConfirmation = (production: boolean | undefined, environment: string): boolean =>
  production ?? (isProductionName(environment) && isAtTerminal());

/** The place of a change, after confirmation in production. `what` describes the change, such as `Turn on dark-mode`; `show` prints it first. */
export const beginChange = async (
  connection: Connection,
  what: string,
  yes: boolean | undefined,
  show?: () => void,
): Promise<Place> => {
  const place = await placeOf(connection);
  if (place.confirms && !yes) show?.();
  if (place.confirms) await confirm(`${what} ${place.text}?`, yes);
  return place;
};
