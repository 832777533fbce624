// What every receiver of the guide has to take and to refuse.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import type { TestContext } from "node:test";
import { block, folderOf, printed, type Receiver } from "./guide.ts";
import { eventBody, secretOf, signPlain, signStandard } from "./vectors.ts";

export const secret = secretOf(1);

const post = async (
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<number> => {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  await response.arrayBuffer();
  return response.status;
};

/** Sends it what is signed and what is not. */
export const check = async ({ url, output }: Receiver): Promise<void> => {
  const body = eventBody("evt_check");
  const sign = (secrets: readonly string[], secondsAgo = 0, id = "evt_check") =>
    signStandard(secrets, id, new Date(Date.now() - secondsAgo * 1_000), body);
  const good = sign([secret]);
  const { "webhook-id": _, ...withoutId } = good;
  const requests: [what: string, status: number, headers: Record<string, string>, body: string][] =
    [
      ["wrong secret", 401, sign([secretOf(2)]), body],
      ["changed body", 401, good, body.replace("25", "26")],
      ["changed id", 401, { ...good, "webhook-id": "evt_other" }, body],
      ["no id", 401, withoutId, body],
      ["too old", 401, sign([secret], 400), body],
      ["too new", 401, sign([secret], -400), body],
      ["timestamp that is no number", 401, { ...good, "webhook-timestamp": "now" }, body],
      ["signature of another version", 401, { ...good, "webhook-signature": "v2,AAAA" }, body],
      ["empty signature", 401, { ...good, "webhook-signature": "" }, body],
      ["no signature", 401, {}, body],
      ["plain signature alone", 401, signPlain(secret, body), body],
    ];
  for (const [what, status, headers, content] of requests) {
    assert.equal(await post(url, headers, content), status, `${what}: ${output()}`);
  }
  assert.ok(!output().includes("flag.enabled"), `a refused event was handled: ${output()}`);
  assert.equal(await post(url, good, body), 204, output());
  assert.equal(await post(url, sign([secretOf(2), secret]), body), 204, `rotation: ${output()}`);
  const unsigned = { ...good, ...signPlain(secretOf(2), body) };
  assert.equal(await post(url, unsigned, body), 204, `plain beside: ${output()}`);
  await printed({ url, output }, "flag.enabled evt_check");
};

export const refusesToStart = (context: TestContext, title: string, command: string): void => {
  const folder = folderOf(context, { [title]: block(title) });
  for (const given of ["", "whsec_"]) {
    const env = { ...process.env, PORT: "0", HALYARD_WEBHOOK_SECRET: given };
    const options = { cwd: folder, env, timeout: 600_000 };
    const { status, stderr } = spawnSync(command, [title], options);
    assert.equal(status, 1, stderr.toString());
    assert.match(stderr.toString(), /HALYARD_WEBHOOK_SECRET is not a webhook secret/);
  }
};
