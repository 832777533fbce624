// The file of OpenID Connect providers: what it may say, and that every mistake is told with its place.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { parseConfig, StartupProblem } from "@halyard/server";

const folder = mkdtempSync(join(tmpdir(), "halyard-providers-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const secret = "a secret that nobody may read in a log";
const least = {
  id: "acme",
  name: "Acme",
  issuer: "https://id.example.com",
  clientId: "halyard",
  clientSecret: secret,
};
const publicUrl = { HALYARD_PUBLIC_URL: "https://flags.example.com" };

const write = (content: unknown): string => {
  const file = join(folder, "providers.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
};
const read = (content: unknown, others: Readonly<Record<string, string>> = publicUrl) =>
  parseConfig({ HALYARD_OIDC_FILE: write(content), ...others }).providers;
const mistakesIn = (content: unknown, others = {}): string => {
  let message = "";
  assert.throws(
    () => read(content, { ...publicUrl, ...others }),
    (error) => {
      assert.ok(error instanceof StartupProblem);
      ({ message } = error);
      return true;
    },
    JSON.stringify(content),
  );
  assert.ok(!message.includes(secret), message);
  return message;
};

test("what is left out has a default", () => {
  assert.deepEqual(read([least]), [
    {
      ...least,
      clientAuthentication: "post",
      scopes: ["openid", "profile", "email"],
      groupsClaim: "groups",
      groups: {},
      authTime: "required",
      requiredClaims: {},
    },
  ]);
  const { clientSecret: _secret, ...publicClient } = least;
  assert.equal(read([publicClient])[0]?.clientSecret, undefined);
});

test("everything that can be set", () => {
  const whole = {
    ...least,
    clientAuthentication: "basic",
    scopes: ["openid", "groups"],
    groupsClaim: "roles",
    groups: {
      "flags-owners": { owner: true, roles: {} },
      developers: { roles: { development: "editor", production: "viewer" } },
    },
    authTime: "assumed",
    requiredClaims: { hd: ["example.com", "example.org"] },
  };
  assert.deepEqual(read([whole]), [whole]);
  assert.deepEqual(read([{ ...least, requiredClaims: { hd: "example.com" } }])[0]?.requiredClaims, {
    hd: ["example.com"],
  });
  for (const issuer of ["http://127.0.0.1:8080/realms/a", "http://localhost:1", "http://[::1]:1"]) {
    assert.equal(read([{ ...least, issuer }])[0]?.issuer, issuer);
  }
});

suite("every mistake", () => {
  const cases: [string, object, RegExp][] = [
    ["an unknown member", { clientSecrets: "x" }, /\[0\]\.clientSecrets is not known\./],
    ["an id for no address", { id: "Acme Corp" }, /\[0\]\.id must be 1 to 40 small letters/],
    ["no name", { name: " " }, /\[0\]\.name must be the name that people see\./],
    ["no client", { clientId: 7 }, /\[0\]\.clientId must be the id that the provider has given/],
    ["an empty secret", { clientSecret: "" }, /\[0\]\.clientSecret must be the secret/],
    ["another way to prove it", { clientAuthentication: "jwt" }, /must be "post" or "basic"\./],
    ["a time of no kind", { authTime: true }, /authTime must be "required" or "assumed"\./],
    ["scopes without openid", { scopes: ["email"] }, /\[0\]\.scopes must contain "openid"\./],
    ["groups as a list", { groups: ["developers"] }, /\[0\]\.groups must be an object of groups\./],
    ["a grant that is none", { groups: { a: "editor" } }, /\[0\]\.groups\.a must be an object/],
    [
      "a role of keys",
      { groups: { a: { roles: { production: "server" } } } },
      /\[0\]\.groups\.a\.roles\.production must be one of viewer, editor, admin\./,
    ],
    [
      "an owner of one environment",
      { groups: { a: { roles: { production: "owner" } } } },
      /\[0\]\.groups\.a\.roles\.production must be one of viewer, editor, admin\./,
    ],
    [
      "a name that no environment can have",
      { groups: { a: { roles: { Production: "viewer" } } } },
      /\[0\]\.groups\.a\.roles\.Production is not the name of an environment\./,
    ],
    [
      "half an owner",
      { groups: { a: { owner: false } } },
      /\[0\]\.groups\.a\.owner must be true or left out\./,
    ],
    ["an unknown grant", { groups: { a: { role: "x" } } }, /\[0\]\.groups\.a\.role is not known\./],
    [
      "a claim without values",
      { requiredClaims: { hd: [] } },
      /\[0\]\.requiredClaims\.hd must be a text or a list of texts\./,
    ],
    ...[
      ...["http://id.example.com", "id.example.com", "https://id.example.com/?a=b", "ftp://a.b"],
      ...["http://127.evil.example", "https://u:p@id.example.com", ""],
    ].map((issuer): [string, object, RegExp] => [
      `the issuer ${issuer}`,
      { issuer },
      /\[0\]\.issuer must be the https address of the provider.*http only on this machine\./,
    ]),
  ];
  for (const [name, change, message] of cases) {
    test(name, () => assert.match(mistakesIn([{ ...least, ...change }]), message));
  }

  test("of the file as a whole", () => {
    for (const content of [{}, [], "null", Array.from({ length: 21 }, () => least)]) {
      assert.match(mistakesIn(content), /the file must hold a list of 1 to 20 providers\./);
    }
    assert.match(mistakesIn([null]), /\[0\] must be an object\./);
    assert.match(mistakesIn(`[{"clientSecret": "${secret}"`), /cannot be read: it is not JSON\./);
    const missing = { HALYARD_OIDC_FILE: join(folder, "missing.json"), ...publicUrl };
    assert.throws(() => parseConfig(missing), /names a file that cannot be read: ENOENT/);
    const twice = mistakesIn([least, { ...least, name: "Other" }]);
    assert.match(twice, /the id acme is there twice\./);
    assert.match(twice, /the issuer https:\/\/id\.example\.com is there twice\./);
  });

  test("providers need to know where to send people back", () => {
    assert.match(
      mistakesIn([least], { HALYARD_PUBLIC_URL: "" }),
      /HALYARD_PUBLIC_URL must be set together with HALYARD_OIDC_FILE/,
    );
  });
});
