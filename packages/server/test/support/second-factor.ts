// A second factor as an app holds it: its secret, and the codes of about now.
import assert from "node:assert/strict";
import { codeAt, stepAt } from "../../src/features/people/sign-in/totp.ts";
import { headersOf } from "./accounts.ts";
import type { TestServer } from "./server.ts";
import { setCookieOf, type TestSession } from "./session.ts";

export interface TestSecondFactor {
  readonly secret: Uint8Array;
  /** The one that turned it on. */
  readonly code: string;
  readonly recoveryCodes: readonly string[];
  /** The same session, which has a new token now. */
  readonly session: Pick<TestSession, "cookie" | "csrf">;
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** As an app reads the secret that a person types. */
export const fromBase32 = (text: string): Uint8Array => {
  const bits = Array.from(text)
    .map((each) => alphabet.indexOf(each).toString(2).padStart(5, "0"))
    .join("");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
};

/** What is known of a session whose token was replaced. */
export const sessionAfter = async (
  server: Pick<TestServer, "anonymous">,
  cookie: string,
): Promise<Pick<TestSession, "cookie" | "csrf">> => {
  const { status, body, text } = await server.anonymous("GET", "//session", undefined, { cookie });
  assert.equal(status, 200, text);
  return { cookie, csrf: (body as { csrf: string }).csrf };
};

export const turnOnSecondFactor = async (
  server: Pick<TestServer, "anonymous">,
  session: Pick<TestSession, "cookie" | "csrf">,
  clock: () => Date,
): Promise<TestSecondFactor> => {
  const path = "//session/second-factor";
  const begun = await server.anonymous("POST", path, undefined, headersOf(session));
  assert.equal(begun.status, 200, begun.text);
  const secret = fromBase32((begun.body as { secret: string }).secret);
  const code = codeAt(secret, stepAt(clock()));
  const on = await server.anonymous("PUT", path, { code }, headersOf(session));
  assert.equal(on.status, 200, on.text);
  const { recoveryCodes } = on.body as { recoveryCodes: string[] };
  const renewed = await sessionAfter(server, setCookieOf(on)?.pair ?? "");
  return { secret, code, recoveryCodes, session: renewed };
};
