// Receivers, and secrets on the page of a webhook.
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { verifyWebhook } from "@halyard/sdk/webhooks";
import type { Page } from "playwright-core";
import {
  type Received,
  type Script,
  startReceiver,
} from "../../../server/test/support/scripted-receiver.ts";
import { dialog } from "./flags.ts";

export const receiverFor = async (t: TestContext, script?: Script) => {
  const receiver = await startReceiver(script);
  t.after(() => receiver.close());
  return receiver;
};

export const shownSecret = async (page: Page): Promise<string> => {
  const secret =
    (await dialog(page)
      .getByText(/^whsec_/)
      .textContent()) ?? "";
  assert.match(secret, /^whsec_[\w+/]{43}=$/);
  return secret;
};

export const isGenuine = async ({ body, headers }: Received, secret: string): Promise<boolean> => {
  const event = await verifyWebhook(body, headers, secret).catch(() => null);
  return event !== null;
};
