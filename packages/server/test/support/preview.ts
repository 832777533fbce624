// Previews as a test reads them, and an environment to ask for them.
import assert from "node:assert/strict";
import type { Answer, Api } from "./api.ts";
import { makeFlag } from "./ofrep.ts";
import type { TestEnvironment, TestServer } from "./server.ts";
import { people, reportTraffic } from "./traffic.ts";

interface Flag {
  readonly key: string;
  readonly changed: number;
  readonly unknown: number;
  readonly low: number | null;
  readonly high: number | null;
  readonly exactShare?: number;
  readonly flips: readonly { readonly from: object; readonly to: object; readonly count: number }[];
}
export interface Preview {
  readonly revision: number;
  readonly sample: { readonly contexts: number; readonly fromClientKeys: number } | null;
  readonly rounded?: true;
  readonly changed: number;
  readonly unchanged: number;
  readonly unknown: number;
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly shareAsSampled: number | null;
  readonly unknownAttributes: readonly string[];
  readonly flags: readonly Flag[];
  readonly flagsLeftOut: number;
  readonly contextsLeftOut: number;
  readonly examples?: readonly {
    readonly flag: string;
    readonly context: Record<string, unknown>;
  }[];
}

export const askPreview = async (api: Api, path: string, body: object): Promise<Preview> => {
  const answer = await api("POST", path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Preview;
};

export const refusedPreview = (answer: Answer): Preview => {
  assert.equal(answer.status, 409, answer.text);
  const body = answer.body as { readonly error: string; readonly preview: Preview };
  assert.equal(body.error, "TOO_MANY_FLIPS");
  return body.preview;
};

/** An environment with a rollout of 10%, and 200 people of whom every fifth is in the plan pro. */
export const sampledEnvironment = async (
  server: TestServer,
): Promise<TestEnvironment & { readonly owner: Api; readonly editor: Api }> => {
  const environment = await server.environment();
  const { admin, newKey } = environment;
  await makeFlag(admin, { key: "checkout", type: "rollout", percentage: 10, enabled: true });
  const contexts = people(200, (index) => ({ plan: index % 5 === 0 ? "pro" : "free" }));
  await reportTraffic(server.url, environment.keys.server, "checkout", contexts);
  return {
    ...environment,
    owner: server.api(await newKey("owner")),
    editor: server.api(await newKey("editor")),
  };
};
export const limitTo = async (owner: Api, name: string, maxFlips: number | null): Promise<void> => {
  const { status, text } = await owner("PATCH", `/environments/${name}`, { maxFlips });
  assert.equal(status, 200, text);
};
