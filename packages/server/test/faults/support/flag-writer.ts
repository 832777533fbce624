// Changes flags through servers that may die at any moment, and knows which changes were answered.
import assert from "node:assert/strict";
import { call } from "./client.ts";
import type { Random } from "./seeded-random.ts";

/** A flag as its last answer left it. */
export interface FlagState {
  readonly version: number;
  readonly there: boolean;
  readonly enabled: boolean;
}

export interface AnsweredChange {
  readonly flagKey: string;
  readonly version: number;
}

export interface Writing {
  /** A server to ask; when it is being restarted, waits for it. */
  readonly server: () => Promise<{ readonly url: string; readonly key: string }>;
  readonly random: Random;
  /** Those that nobody else changes. */
  readonly keys: readonly string[];
  readonly answered: AnsweredChange[];
  /** False to stop; may wait. */
  readonly goOn: () => boolean | Promise<boolean>;
  /** Whether answers may come that leave it open whether the change was made: 503, and 408 from one that slept. */
  readonly mayBeUnavailable?: boolean;
}

export interface Written {
  readonly states: ReadonlyMap<string, FlagState>;
  /** Requests that were cut off or whose answer says nothing. */
  readonly unknown: number;
}

const absent: FlagState = { version: 0, there: false, enabled: false };

const nextRequest = (random: Random, flagKey: string, { there, enabled, version }: FlagState) => {
  const path = `/flags/${flagKey}`;
  if (!there) {
    return ["POST", "/flags", { key: flagKey, type: "rollout", percentage: 100 }] as const;
  }
  const choice = random(20);
  if (choice === 0) return ["DELETE", path, undefined] as const;
  const body = {
    // Both at once make two events of one change.
    ...(choice < 12 && { enabled: !enabled }),
    ...(choice > 8 && { description: `at version ${version}` }),
  };
  return ["PATCH", path, body] as const;
};

const successOf = { POST: 201, PATCH: 200, DELETE: 204 } as const;
const wasOvertaken = new Set([404, 409, 412]);

const saysNothing = new Set([408, 503]);

/** Undefined when the connection broke or, where that may be, the answer says nothing. */
const callIfUp = async (
  { server, mayBeUnavailable }: Writing,
  ...request: [method: string, path: string, body?: object, headers?: Record<string, string>]
) => {
  try {
    const reply = await call(await server(), ...request);
    return mayBeUnavailable && saysNothing.has(reply.status) ? undefined : reply;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
};

/** What a server says of the flag, deleted or not. */
const readState = async (writing: Writing, flagKey: string): Promise<FlagState> => {
  for (;;) {
    const reply = await callIfUp(writing, "GET", `/flags/${flagKey}/history?limit=1`);
    if (!reply) continue;
    if (reply.status === 404) return absent;
    assert.equal(reply.status, 200);
    const [last] = reply.body as { version: number; after: { enabled: boolean } | null }[];
    assert.ok(last);
    const { version, after: flag } = last;
    return { version, there: flag !== null, enabled: flag?.enabled ?? false };
  }
};

/** Changes its own flags one after the other; what was left unanswered is looked up afterwards. */
export const writeFlags = async (writing: Writing): Promise<Written> => {
  const { random, keys, answered, goOn } = writing;
  const states = new Map<string, FlagState>();
  /** A database may still be at work on what a dead server has sent. */
  const uncertain = new Set<string>();
  let unknown = 0;
  while (await goOn()) {
    const flagKey = keys[random(keys.length)] ?? "";
    const state = states.get(flagKey) ?? absent;
    const [method, path, body] = nextRequest(random, flagKey, state);
    const condition = { ...(state.there && { "if-match": `"${state.version}"` }) };
    const reply = await callIfUp(writing, method, path, body, condition);
    if (reply?.status === successOf[method]) {
      const { enabled = state.enabled } = (reply.body ?? {}) as { enabled?: boolean };
      const version = state.version + 1;
      if (reply.tag !== null) assert.equal(reply.tag, `"${version}"`);
      states.set(flagKey, { version, there: method !== "DELETE", enabled });
      uncertain.delete(flagKey);
      answered.push({ flagKey, version });
      continue;
    }
    if (reply) {
      const explained = uncertain.has(flagKey) && wasOvertaken.has(reply.status);
      assert.ok(explained, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    } else {
      unknown += 1;
      uncertain.add(flagKey);
    }
    const found = await readState(writing, flagKey);
    const possible = [state.version, state.version + 1];
    assert.ok(
      possible.includes(found.version),
      `${flagKey}: ${found.version} not in ${possible.join()}`,
    );
    states.set(flagKey, found);
  }
  return { states, unknown };
};
