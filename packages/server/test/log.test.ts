// The log lets no key and no secret through, wherever in a line it stands.
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../src/process/log.ts";

const chosen = 'chosen by the operator: a "key"';
const token = "scrape-me-0123456789-token";

const written = (write: (log: ReturnType<typeof createLog>) => void): string => {
  let text = "";
  const destination = {
    write(line: string) {
      text += line;
    },
  };
  const settings = { logLevel: "trace", bootstrapKeys: [{ text: chosen }], metricsToken: token };
  write(createLog(settings, { worker: 1 }, destination));
  for (const line of text.trim().split("\n")) JSON.parse(line);
  return text;
};

const secret = "S3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS3cr3tS";
const places: Readonly<Record<string, string>> = {
  "a key": `hal_0123456789abcdef_${secret}`,
  "a webhook's secret": `whsec_${secret}`,
  "a header": `Bearer ${secret}`,
  "another scheme": `basic ${secret}`,
  "a sign-in link": `http://127.0.0.1:4400/sign-in?once=${secret}`,
  "a stream's address": `/ofrep/v1/events?a=b&token=${secret}&c=d`,
  "a cookie": `a=b; halyard_session=${secret}; c=d`,
  "a cookie over TLS": `__Host-halyard_session=${secret}`,
  "a database's address": `postgres://halyard:${secret}@db.example.com/halyard`,
};

for (const [name, text] of Object.entries(places)) {
  test(`${name}, in a message, a field, an error and a child`, () => {
    const line = written((log) => {
      log.info(`it said ${text}`);
      log.info({ deep: { deeper: [text] } }, "x");
      log.error({ err: new Error(`refused ${text}`) }, "x");
      log.child({ of: text }).warn("x");
    });
    assert.ok(!line.includes(secret), line);
    assert.equal(line.match(/\[redacted\]/g)?.length, 5, "an error tells it in its trace too");
  });
}

test("what the operator has chosen looks like nothing, and is known all the same", () => {
  const line = written((log) => {
    log.info({ text: chosen, token }, `${token} and ${chosen}`);
  });
  assert.ok(!line.includes("chosen by") && !line.includes("scrape-me"), line);
});

test("fields that hold a secret by their name", () => {
  const line = written((log) => {
    const fields = { secret, password: secret, cookie: secret, authorization: secret };
    log.info({ ...fields, inner: { ...fields, "x-api-key": secret, keyText: secret } });
    log.info({ req: { headers: { any: secret } }, keyText: secret, key: { text: secret } });
    log.info({
      a: { b: [{ "set-cookie": [secret], password: `"\\ ${secret}`, headers: [[secret]] }] },
    });
    log.child({ inner: { secret } }).info("x");
    log.info({ key: { id: "0123456789abcdef", text: secret } });
  });
  assert.ok(!line.includes(secret), line);
  assert.equal(line.split("\n").length, 6, "each is a line");
  assert.match(line, /"key":\{"id":"0123456789abcdef","text":"\[redacted\]"\}/);
});

test("all else stays as it is", () => {
  const line = written((log) => {
    log.info(
      { keyId: "0123456789abcdef", url: "https://a.example/hook?x=1", token: 5 },
      'the key "ci" of hal_0123456789abcdef was revoked',
    );
  });
  assert.ok(!line.includes("[redacted]"), line);
  assert.match(line, /"worker":1/);
});
