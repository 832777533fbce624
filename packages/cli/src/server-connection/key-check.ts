// Finds the role and the environment of a key.
import type { OwnApiKey } from "@halyard/sdk";
import { answered, type Connection } from "./connection.ts";

/** Fails when the server is unavailable or the key is not valid. */
export const checkKey = async (connection: Connection): Promise<OwnApiKey> =>
  answered(connection, await connection.management.keys.current());
