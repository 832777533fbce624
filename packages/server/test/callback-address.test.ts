// Where callbacks may go: the rules by a corpus of spellings, and the same rules over real HTTP.
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseConfig } from "@halyard/server";
import {
  type CallbackPolicy,
  checkCallbackUrl,
  checkResolved,
  parseAllowedPlace,
  refuseAddress,
} from "../src/features/webhooks/callback-address.ts";
import { assertRefused } from "./support/answers.ts";
import { createApi } from "./support/api.ts";
import { loopback, neverPublic, words } from "./support/forbidden-addresses.ts";
import { startTestServer, type TestServer } from "./support/server.ts";

const policyOf = (settings: Readonly<Record<string, string>>): CallbackPolicy =>
  parseConfig(settings).callbacks;
const developer = policyOf({ HOST: "127.0.0.1" });
const open = policyOf({ HOST: "0.0.0.0" });

/** Why the URL is refused, or undefined when it may be called as far as its text tells. */
const reasonOf = (policy: CallbackPolicy, url: string): string | undefined => {
  const checked = checkCallbackUrl(policy, url);
  if (checked.ok) return undefined;
  assert.equal(checked.failure.code, "VALIDATION_FAILED");
  assert.equal(checked.failure.details?.[0]?.field, "url");
  return checked.failure.message;
};

const publicHosts = words(`
  8.8.8.8 8.8.8.8. 134744072 1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.0.1
  172.15.255.255 172.32.0.0 192.167.255.255 198.17.255.255 198.20.0.0 223.255.255.255 168.63.129.17
  [2606:4700:4700::1111] [2001:4860:4860::8888] [2001:200::1] [2a00:1450::1] [::ffff:8.8.8.8]
  example.com example.com. EXAMPLE.com sub.example.co.uk xn--bcher-kva.example bücher.example 127.0.0.1.example.com
  localhost.example.com a-b.example under_score.example 10.example`);

test("loopback in every spelling: for a developer's machine only, in http and https, on any port", () => {
  for (const host of loopback) {
    for (const url of [`https://${host}/`, `http://${host}:9000/x?y`, `https://${host}:1`]) {
      assert.equal(reasonOf(developer, url), undefined, url);
      assert.match(reasonOf(open, url) ?? "allowed", /not a public address/, url);
    }
  }
});

test("what is not public is refused in every spelling, on every machine, in http and https", () => {
  assert.ok(loopback.length + neverPublic.length >= 120);
  for (const host of neverPublic) {
    for (const url of [`https://${host}/`, `http://${host}/`, `https://${host}:8443/x`]) {
      for (const policy of [developer, open]) {
        assert.match(reasonOf(policy, url) ?? "allowed", /not a public address/, url);
      }
    }
  }
});

test("public addresses and names are allowed in https, and refused in plain http", () => {
  for (const host of publicHosts) {
    for (const policy of [developer, open]) {
      for (const url of [`https://${host}/x?y=1`, `HTTPS://${host}:443`, `https://${host}:8443/`]) {
        assert.equal(reasonOf(policy, url), undefined, url);
      }
    }
    for (const url of [`http://${host}/`, `http://${host}:443/`, `http://${host}:8443/`]) {
      assert.match(reasonOf(open, url) ?? "allowed", /must begin with https/, url);
    }
  }
  assert.match(reasonOf(developer, "http://8.8.8.8/") ?? "allowed", /http is for loopback only/);
});

test("ports: 443 and 8443 and those of the setting; any on a developer's machine", () => {
  const more = policyOf({ HOST: "0.0.0.0", HALYARD_CALLBACK_PORTS: "443, 9443" });
  const cases = [
    { policy: open, taken: [443, 8443], refused: [0, 22, 80, 444, 8080, 9443, 65_535] },
    { policy: more, taken: [443, 9443], refused: [80, 8443] },
    { policy: developer, taken: [22, 443, 9443], refused: [] },
  ];
  for (const { policy, taken, refused } of cases) {
    for (const host of ["example.com", "8.8.8.8", "[2606:4700:4700::1111]"]) {
      const reason = (port: number) => reasonOf(policy, `https://${host}:${port}/`);
      for (const port of taken) assert.equal(reason(port), undefined, `${host}:${port}`);
      for (const port of refused) {
        assert.match(reason(port) ?? "allowed", new RegExp(`one of the ports .*, not ${port};`));
      }
    }
  }
});

const notPlain = (reason: RegExp, ...urls: string[]) => ({ reason, urls });
const refusedTexts = [
  notPlain(
    /user name or a password/,
    ...words(`https://user@example.com/ https://user:pass@example.com/ https://:@example.com/ https://@example.com/
      https://example.com:443@127.0.0.1/ https://a%40b@example.com/`),
  ),
  notPlain(
    /fragment/,
    ...words("https://example.com/# https://example.com/#a https://example.com#@8.8.8.8/"),
  ),
  notPlain(/at most 2048 characters/, `https://example.com/${"a".repeat(2_029)}`),
  notPlain(
    /complete https address/,
    ...words(`example.com //example.com/ /x https: https:// https:/// https:///example.com/ https:example.com
      https:/example.com ftp://example.com/ file:///etc/passwd javascript:alert(1) data:,x wss://example.com/ gopher://127.0.0.1/
      https://example.com:99999/ https://example.com:x/ https://[::1/ https://[::1]x/ https://[fe80::1%25eth0]/
      https://[1.2.3.4]/ https://1.2.3.4.5/ https://4294967296/ https://256.1.1.1/ https://0x1ffffffff/ https://a<b/
      https://exa%00mple.com/ https://./ https://../ https://a..b/ https://.example.com/ https://127.0.0.1../
      https:\\\\example.com\\ https://example.com\\@8.8.8.8/ https://8.8.8.8\\.example.com/ https:/\\example.com/`),
    ...["", " ", " https://example.com/", "https://example.com/ ", "https://example.com/a b"],
    ...["https://exam\tple.com/", "https://example.com/\n", "ht\ntps://example.com/"],
    ...["https://127.0.\r\n0.1/", "https://example.com/\u0000", "https://example.com/\u0085"],
  ),
];

test("what is not a plain complete address is refused, with the reason", () => {
  for (const { reason, urls } of refusedTexts) {
    for (const url of urls) {
      assert.match(reasonOf(developer, url) ?? "allowed", reason, JSON.stringify(url));
      assert.match(reasonOf(open, url) ?? "allowed", reason, JSON.stringify(url));
    }
  }
  assert.equal(reasonOf(open, `https://example.com/${"a".repeat(2_028)}`), undefined);
});

test("a name may be called when every address that it stands for may", () => {
  const decision = (policy: CallbackPolicy, url: string, ...addresses: string[]) => {
    const target = checkCallbackUrl(policy, url);
    assert.ok(target.ok);
    const checked = checkResolved(policy, target.value, addresses);
    return checked.ok ? "allowed" : checked.failure.message;
  };
  const name = "https://hooks.example/";
  assert.equal(decision(open, name), "allowed", "receivers are often registered before they exist");
  assert.equal(decision(open, name, "8.8.8.8", "2606:4700:4700::1111"), "allowed");
  const bad = words(
    `127.0.0.1 10.0.0.1 169.254.169.254 ::1 ::ffff:10.0.0.1 fe80::1%eth0 fd00::1 64:ff9b::a00:1 0.0.0.0 nonsense`,
  );
  for (const address of bad) {
    for (const addresses of [
      ["8.8.8.8", address],
      [address, "8.8.8.8"],
    ]) {
      const reason = decision(open, name, ...addresses);
      assert.match(reason, /must not go to hooks\.example, which does not resolve to public/);
      assert.ok(!reason.includes(address), "a refusal reveals what a name resolves to");
    }
  }
  const local = "http://hooks.example:9000/";
  assert.equal(decision(developer, local, "127.0.0.1", "::1"), "allowed");
  assert.match(decision(developer, local, "127.0.0.1", "8.8.8.8"), /http is for loopback only/);
  assert.match(decision(developer, local, "127.0.0.1", "10.0.0.1"), /resolve to public addresses/);
  assert.match(decision(developer, local), /http is for loopback only/);
});

test("names of private networks are refused before they are resolved, unless they are allowed", () => {
  const names =
    words(`db hooks localhost. metadata.google.internal a.INTERNAL printer.local x.localhost a.b.localhost
    router.home.arpa hooks.internal.`);
  for (const name of names) {
    const url = `https://${name}/`;
    assert.match(reasonOf(open, url) ?? "allowed", /name of a private network/, url);
    const HALYARD_CALLBACK_ALLOW = name.replace(/\.$/, "");
    assert.equal(reasonOf(policyOf({ HOST: "0.0.0.0", HALYARD_CALLBACK_ALLOW }), url), undefined);
    if (!name.startsWith("localhost")) {
      assert.match(reasonOf(developer, url) ?? "allowed", /name of a private network/, url);
    }
  }
  assert.equal(reasonOf(developer, "http://localhost:9000/"), undefined);
  for (const name of words(
    "internal.example local.example.com home.arpa.example mylocal.example",
  )) {
    assert.equal(reasonOf(open, `https://${name}/`), undefined, name);
  }
});

test("loopback may be called, and a link signs in, where nobody else can reach the server, or as the settings say", () => {
  const cases: [Record<string, string>, boolean][] = [
    [{}, true],
    [{ HOST: "::1" }, true],
    [{ HOST: "0.0.0.0" }, false],
    [{ HALYARD_TRUST_PROXY: "127.0.0.1" }, false],
    [{ HALYARD_TRUST_PROXY: "false" }, true],
    [{ HALYARD_PUBLIC_URL: "https://flags.example.com" }, false],
  ];
  for (const [settings, expected] of cases) {
    const both = (more: Record<string, string>) => {
      const { callbacks, signInLink } = parseConfig({ ...settings, ...more });
      return [callbacks.loopback, signInLink];
    };
    assert.deepEqual(both({}), [expected, expected], JSON.stringify(settings));
    const said = (value: string) => ({
      HALYARD_CALLBACK_LOOPBACK: value,
      HALYARD_SIGN_IN_LINK: value,
    });
    assert.deepEqual(both(said("on")), [true, true]);
    assert.deepEqual(both(said("off")), [false, false]);
  }
});

test("HALYARD_CALLBACK_ALLOW opens networks, addresses, names and wildcards, in plain http and on any port", () => {
  const HALYARD_CALLBACK_ALLOW = "10.1.0.0/16, 192.168.7.7,fd00:1::/32,hooks.internal,*.svc.local";
  const allow = policyOf({ HOST: "0.0.0.0", HALYARD_CALLBACK_ALLOW });
  for (const host of words(`10.1.0.0 10.1.255.255 0x0a010203 [::ffff:10.1.2.3] 192.168.7.7 [fd00:1::5] [fd00:1:ffff::]
    hooks.internal HOOKS.internal hooks.internal. a.svc.local a.b.svc.local`)) {
    for (const url of [`http://${host}/`, `https://${host}:9999/x`]) {
      assert.equal(reasonOf(allow, url), undefined, url);
      assert.notEqual(reasonOf(open, url), undefined, url);
    }
  }
  for (const host of words(`10.0.255.255 10.2.0.0 192.168.7.8 [fd00:2::1] [fd01::1] 127.0.0.1 169.254.169.254 hooks.internal.evil.com
    xhooks.internal a.hooks.internal svc.local asvc.local`)) {
    assert.notEqual(reasonOf(allow, `http://${host}/`), undefined, host);
  }
  assert.equal(refuseAddress(allow, new URL("http://x/"), "10.1.2.3"), undefined);
  const named = checkCallbackUrl(allow, "http://hooks.internal/");
  assert.ok(named.ok && checkResolved(allow, named.value, ["10.9.9.9"]).ok);
});

test("a place is written plainly: what could be read as another place is a mistake in the setting", () => {
  const network = (address: string, bits: number) => ({ kind: "network", address, bits });
  assert.deepEqual(parseAllowedPlace("10.1.0.0/16"), network("10.1.0.0", 16));
  assert.deepEqual(parseAllowedPlace("10.1.2.3"), network("10.1.2.3", 32));
  assert.deepEqual(parseAllowedPlace("FD00::/8"), network("fd00::", 8));
  assert.deepEqual(parseAllowedPlace("::1"), network("::1", 128));
  assert.deepEqual(parseAllowedPlace("*.Hooks.internal"), {
    kind: "name",
    name: "*.hooks.internal",
  });
  for (const text of words(`10.1 10.1/16 1 010.1.0.0/16 0x0a.1.0.0/16 0x7f 10.1.0.0/33 10.1.0.0/ 10.1.0.0/-1 10.1.0.0/8/8 fd00::/129
    ::ffff:10.0.0.0/104 fe80::1%eth0 [::1] * *.* *. a.*.b http://hooks.internal hooks.internal:80 hooks.internal/ a..b -a a_.- a@b`)) {
    assert.equal(parseAllowedPlace(text), undefined, text);
    const settings = { HALYARD_CALLBACK_ALLOW: `hooks.internal,${text}` };
    assert.throws(() => parseConfig(settings), /HALYARD_CALLBACK_ALLOW must be/, text);
  }
});

test("over HTTP a server on loopback takes https anywhere public and http to loopback", async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const { admin } = await server.environment();
  const events = ["*"];
  const taken = [
    "http://127.0.0.1:9000/x",
    "http://localhost:1/x",
    "http://[::1]:9/",
    "https://127.0.0.1/",
    "https://example.com/x",
  ];
  for (const url of taken) {
    const made = await admin("POST", "/webhooks", { url, events });
    assert.equal(made.status, 201, made.text);
    assert.equal((made.body as { url: string }).url, url);
  }
  const refused: [string, string][] = [
    ["http://example.com/", "https://"],
    ["https://10.0.0.1/", "10.0.0.1, which is not a public address (private)"],
    ["https://169.254.169.254/latest/meta-data", "(link local)"],
    ["https://[::ffff:a00:1]/", "not a public address"],
    ["https://user:pass@example.com/", "password"],
    ["https://example.com/#top", "fragment"],
    [`https://example.com/${"a".repeat(2_048)}`, "2048 characters"],
    ["nonsense", "such as https://example.com/hook"],
  ];
  for (const [url, reason] of refused) {
    assertRefused(await admin("POST", "/webhooks", { url, events }), 400, "url", reason);
  }
  assert.equal(((await admin("GET", "/webhooks")).body as unknown[]).length, taken.length);
});

test("over HTTP a server that others can reach takes public https only, and what the setting opens", async (t) => {
  const events = ["*"];
  const refused: [string, string][] = [
    ["http://127.0.0.1:9000/x", "127.0.0.1, which is not a public address (loopback)"],
    ["https://127.0.0.1/x", "HALYARD_CALLBACK_ALLOW"],
    ["https://localhost/x", "private network"],
    ["http://example.com/", "must begin with https://"],
    ["https://example.com:9443/", "ports 443, 8443, not 9443; the operator can allow more"],
    ["https://10.1.2.3/", "(private)"],
  ];
  const closed = await startTestServer({ HOST: "0.0.0.0" });
  const opened = await startTestServer({
    HOST: "0.0.0.0",
    HALYARD_CALLBACK_ALLOW: "127.0.0.0/8,localhost,example.com,10.1.0.0/16",
  });
  t.after(() => Promise.all([closed.close(), opened.close()]));
  const adminOf = async (server: TestServer) =>
    createApi(server.url.replace("0.0.0.0", "127.0.0.1"), (await server.environment()).keys.admin);
  const [closedAdmin, openedAdmin] = [await adminOf(closed), await adminOf(opened)];
  for (const [url, reason] of refused) {
    assertRefused(await closedAdmin("POST", "/webhooks", { url, events }), 400, "url", reason);
    assert.equal((await openedAdmin("POST", "/webhooks", { url, events })).status, 201, url);
  }
  const made = await closedAdmin("POST", "/webhooks", { url: "https://example.com/x", events });
  assert.equal(made.status, 201, made.text);
});
