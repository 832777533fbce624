// The evaluation of all flags as OFREP has it, scripted: values by targeting key, tags, and a stream of notifications.
import type { ServerResponse } from "node:http";
import type { TestContext } from "node:test";
import { openStream, scriptedServer } from "./scripted-server.ts";

export const bulk = "POST /ofrep/v1/evaluate/flags";
export const events = "GET /ofrep/v1/events";

export interface BulkState {
  revision: number;
  /** Whether the flag `a` is on for this targeting key. */
  isOn: (targetingKey: string) => boolean;
  /** Undefined: the server announces no stream. */
  token: string | undefined;
  inactivityDelaySec: number;
  /** Evaluations are answered 503. */
  isBroken: boolean;
  /** Whether evaluations for this targeting key get no response. */
  hangs: (targetingKey: string) => boolean;
}

export const bulkServer = async (context: TestContext, changes: Partial<BulkState> = {}) => {
  const state: BulkState = {
    revision: 1,
    isOn: () => false,
    token: "first",
    inactivityDelaySec: 120,
    isBroken: false,
    hangs: () => false,
    ...changes,
  };
  const open = new Set<ServerResponse>();
  const hanging = new Set<ServerResponse>();
  const server = await scriptedServer(context, {
    [bulk]: (response, { body, headers }) => {
      if (state.isBroken) return response.writeHead(503).end();
      const { context: given } = JSON.parse(body) as { context: { targetingKey?: string } };
      const targetingKey = given.targetingKey ?? "";
      if (state.hangs(targetingKey)) {
        hanging.add(response);
        return response.on("close", () => hanging.delete(response));
      }
      const tag = `"${state.revision}-${targetingKey}"`;
      if (headers["if-none-match"] === tag) return response.writeHead(304, { etag: tag }).end();
      const value = state.isOn(targetingKey);
      const missing = { key: "r", errorCode: "TARGETING_KEY_MISSING", errorDetails: "who?" };
      return response.writeHead(200, { "content-type": "application/json", etag: tag }).end(
        JSON.stringify({
          flags: [
            { key: "a", value, reason: "SPLIT", variant: value ? "on" : "off" },
            targetingKey === ""
              ? missing
              : { key: "r", value: true, reason: "STATIC", variant: "on" },
            { key: "colour", value: "red", reason: "STATIC" },
          ],
          ...(state.token !== undefined && {
            eventStreams: [
              { type: "carrier-pigeon", url: "pigeon://coop" },
              {
                type: "sse",
                url: `${server.url}/ofrep/v1/events?token=${state.token}`,
                inactivityDelaySec: state.inactivityDelaySec,
              },
            ],
          }),
        }),
      );
    },
    [events]: (response, { url }) => {
      if (!url.endsWith(`token=${state.token}`)) return response.writeHead(401).end("{}");
      openStream(response);
      open.add(response);
      response.on("close", () => open.delete(response));
      return response.write(":\n\n");
    },
  });
  return {
    ...server,
    state,
    open,
    /** Evaluations that wait for a response. */
    hanging,
    /** Adds a revision, and sends a notification on every open stream. */
    change(change: Partial<BulkState>) {
      Object.assign(state, change);
      state.revision += 1;
      const data = {
        type: "refetchEvaluation",
        etag: `${state.revision}-x`,
        lastModified: 1_794_657_603,
      };
      for (const response of open) {
        response.write(`id: ${state.revision}-x\ndata: ${JSON.stringify(data)}\n\n`);
      }
    },
  };
};
