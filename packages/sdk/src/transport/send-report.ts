// Sends a report of a client to the server, as JSON.
import type { Server } from "./address.ts";
import { exchange } from "./exchange.ts";

/** A client that closes waits no longer than this for its last report, in milliseconds. */
export const lastReportTimeout = 3_000;

/** Resolves to the status of the response, and to 0 without one. With `leaving`, the request can outlive its page. */
export const sendReport = (
  { base, authorization, fetch }: Server,
  path: string,
  body: string,
  timeout: number,
  leaving: boolean,
): Promise<number> =>
  exchange({
    fetch,
    url: base + path,
    init: {
      method: "POST",
      headers: { ...authorization, "content-type": "application/json" },
      body,
      keepalive: leaving,
    },
    timeout,
    read: async (response) => {
      await response.text();
      return response.status;
    },
  }).catch(() => 0);
