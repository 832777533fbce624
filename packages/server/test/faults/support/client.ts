// Calls the API of a server that may die at any moment, and registers receivers with it.
import assert from "node:assert/strict";
import type { Receiver } from "./receiver.ts";

export interface Reply {
  readonly status: number;
  readonly tag: string | null;
  readonly body: unknown;
}

/** Rejects when the connection breaks: then nobody knows whether the request was carried out. */
export const call = async (
  { url, key }: { readonly url: string; readonly key: string },
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<Reply> => {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { "content-type": "application/json" }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status } = response;
  const tag = response.headers.get("etag");
  return { status, tag, body: text === "" ? undefined : JSON.parse(text) };
};

/** Gives the webhook's id. */
export const register = async (
  server: { readonly url: string; readonly key: string },
  receiver: Receiver,
  events: readonly string[] = ["*"],
): Promise<string> => {
  const { status, body } = await call(server, "POST", "/webhooks", { url: receiver.url, events });
  assert.equal(status, 201, JSON.stringify(body));
  const { id, secret } = body as { id: string; secret: string };
  receiver.secret = secret;
  return id;
};
