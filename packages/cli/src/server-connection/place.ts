// Where a command works, in words; and production, where a change asks first.
import { isProductionName } from "@halyard/core/environment-name";
import type { OwnApiKey } from "@halyard/sdk/management";
import { confirm, isAtTerminal } from "../terminal/ask.ts";
import { inOneLine } from "../terminal/output.ts";
import { answered, type Connection } from "./connection.ts";

/** What the server says of the key; fails when the server is unavailable or the key is not valid. */
export const checkKey = async (connection: Connection): Promise<OwnApiKey> =>
  answered(connection, await connection.management.keys.current());

export interface Place {
  /** Such as `in staging at https://flags.example.com`. */
  readonly text: string;
  /** The same for scripts. */
  readonly json: { readonly environment: string; readonly server: string };
  /** Whether a change asks first. */
  readonly asks: boolean;
  /** Whether changes are proposed, each in one request: the environment is protected, or it is a preview. */
  readonly proposes: boolean;
}

/** The server is asked, even if a profile knows: a name that is wrong is worse than a request more. */
export const placeOf = async (connection: Connection): Promise<Place> => {
  const { url: server, production, bypass, isPreview } = connection;
  const { environment, proposes = false } = await checkKey(connection);
  return {
    text: inOneLine(`in ${environment} at ${server}`),
    json: { environment, server },
    proposes: isPreview || (proposes && !bypass),
    asks: !isPreview && isAskedIn(production, environment),
  };
};

/** Scripts that run without a terminal are stopped only by a mark that somebody set. */
const isAskedIn = (production: boolean | undefined, environment: string): boolean =>
  production ?? (isProductionName(environment) && isAtTerminal());

/** The place of a change; in production it asks first. `what` is the change, such as `Turn on dark-mode`; `show` shows it before. */
export const beginChange = async (
  connection: Connection,
  what: string,
  yes: boolean | undefined,
  show?: () => void,
): Promise<Place> => {
  const place = await placeOf(connection);
  if (place.asks && !yes) show?.();
  if (place.asks) await confirm(`${what} ${place.text}?`, yes);
  return place;
};
