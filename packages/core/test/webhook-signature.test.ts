// Keys, signed bytes and header values compared with the published vectors, with node:crypto for the HMAC.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { suite, test } from "node:test";
import {
  parsePlainSignature,
  parseStandardSignatures,
  plainHeader,
  plainKey,
  plainSignature,
  standardContent,
  standardKey,
  standardSignature,
} from "@halyard/core/webhook-signature";
import { array, assert as check, property, uint8Array } from "fast-check";

type Body = { text: string } | { base64: string } | { repeat: string; times: number };

interface SignedCase {
  readonly name: string;
  readonly secret: string;
  readonly previousSecret?: string;
  readonly id: string;
  readonly timestamp: number;
  readonly body: Body;
  readonly "x-service-signature": string;
  readonly "webhook-signature": string;
}

const file = new URL("../../../conformance/signature.json", import.meta.url);
const { signed } = JSON.parse(readFileSync(file, "utf8")) as { signed: readonly SignedCase[] };

const bytesOf = (body: Body): Uint8Array => {
  if ("text" in body) return Buffer.from(body.text);
  if ("base64" in body) return Buffer.from(body.base64, "base64");
  return Buffer.from(body.repeat.repeat(body.times));
};

const hmac = (key: Uint8Array, content: Uint8Array): Uint8Array =>
  createHmac("sha256", key).update(content).digest();

suite("the published vectors", () => {
  test("are there", () => assert.ok(signed.length >= 25, `${signed.length} vectors`));

  for (const vector of signed) {
    test(vector.name, () => {
      const { secret, previousSecret, id, timestamp, body } = vector;
      const bytes = bytesOf(body);
      const plain = hmac(plainKey(previousSecret ?? secret), bytes);
      const standard = [secret, ...(previousSecret === undefined ? [] : [previousSecret])].map(
        (text) => hmac(standardKey(text), standardContent(id, timestamp, bytes)),
      );

      assert.equal(plainSignature(plain), vector["x-service-signature"]);
      assert.equal(standard.map(standardSignature).join(" "), vector["webhook-signature"]);

      const parsedPlain = parsePlainSignature(vector["x-service-signature"]);
      assert.deepEqual(parsedPlain && Buffer.from(parsedPlain), plain);
      const parsedStandard = parseStandardSignatures(vector["webhook-signature"]);
      assert.deepEqual(
        parsedStandard.map((mac) => Buffer.from(mac)),
        standard,
      );
    });
  }
});

suite("keys", () => {
  const secret = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

  test("the plain key is the secret as text, the standard key the decoded bytes", () => {
    assert.deepEqual(Buffer.from(plainKey(secret)), Buffer.from(secret));
    assert.deepEqual([...standardKey(secret)], [...Array(32).keys()]);
  });

  for (const [what, text] of [
    ["no prefix", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
    ["another prefix", "whpub_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="],
    ["nothing after the prefix", "whsec_"],
    ["a line feed at the end", `${secret}\n`],
    ["a space before", ` ${secret}`],
    ["the URL alphabet", "whsec_-_-_"],
    ["padding left out", secret.slice(0, -1)],
    ["padding inside", "whsec_AA==AA=="],
    ["bits that no byte holds", "whsec_AB=="],
    ["a single digit", "whsec_A"],
  ] as const) {
    test(`standardKey rejects ${what} and does not repeat the secret`, () => {
      assert.throws(
        () => standardKey(text),
        (error: Error) => error instanceof TypeError && !error.message.includes("AAEC"),
      );
    });
  }
});

suite("headers", () => {
  const mac = Uint8Array.from({ length: 32 }, (_, index) => index * 8);
  const plain = plainSignature(mac);
  const standard = standardSignature(mac);

  test("the plain header contains the service's name", () => {
    assert.equal(plainHeader("Service"), "X-Service-Signature");
  });

  for (const [what, header] of [
    ["upper case", `sha256=${plain.slice(7).toUpperCase()}`],
    ["no prefix", plain.slice(7)],
    ["another hash", plain.replace("sha256", "sha512")],
    ["a digit too few", plain.slice(0, -1)],
    ["a digit too many", `${plain}0`],
    ["two in one", `${plain}, ${plain}`],
    ["a line feed at the end", `${plain}\n`],
    ["nothing", ""],
  ] as const) {
    test(`a plain header with ${what} is rejected`, () => {
      assert.equal(parsePlainSignature(header), undefined);
    });
  }

  for (const [what, header, count] of [
    ["one signature", standard, 1],
    ["two signatures", `${standard} ${standard}`, 2],
    ["with unknown versions", `v1a,AAAA v2,x ${standard} v10,AAAA`, 1],
    ["an unknown version only", standard.replace("v1", "v2"), 0],
    ["upper-case version", standard.replace("v1", "V1"), 0],
    ["too few bytes", "v1,AAAA", 0],
    ["too many bytes", standardSignature(new Uint8Array(33)), 0],
    ["no padding", standard.slice(0, -1), 0],
    ["no version", standard.slice(3), 0],
    ["nothing", "", 0],
  ] as const) {
    test(`a standard header with ${what} contains ${count}`, () => {
      const parsed = parseStandardSignatures(header);
      assert.equal(parsed.length, count);
      for (const found of parsed) assert.deepEqual([...found], [...mac]);
    });
  }
});

suite("for all bytes", () => {
  const formsAreThoseOfBuffer = () => {
    check(
      property(uint8Array(), (bytes) => {
        assert.equal(plainSignature(bytes), `sha256=${Buffer.from(bytes).toString("hex")}`);
        assert.equal(standardSignature(bytes), `v1,${Buffer.from(bytes).toString("base64")}`);
      }),
    );
  };
  test("both header formats equal Buffer's output", formsAreThoseOfBuffer);

  test("also on a runtime without built-in methods", (t) => {
    for (const name of ["toHex", "toBase64"]) {
      const native = Object.getOwnPropertyDescriptor(Uint8Array.prototype, name);
      assert.ok(native);
      t.after(() => Object.defineProperty(Uint8Array.prototype, name, native));
      Reflect.deleteProperty(Uint8Array.prototype, name);
    }
    formsAreThoseOfBuffer();
  });

  test("base64 in a secret is decoded like Buffer does", () => {
    check(
      property(uint8Array({ minLength: 1 }), (bytes) => {
        const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
        assert.deepEqual([...standardKey(secret)], [...bytes]);
      }),
    );
  });

  test("signatures survive a header", () => {
    check(
      property(array(uint8Array({ minLength: 32, maxLength: 32 })), (macs) => {
        const header = macs.map(standardSignature).join(" ");
        assert.deepEqual(
          parseStandardSignatures(header).map((mac) => [...mac]),
          macs.map((mac) => [...mac]),
        );
      }),
    );
  });
});
