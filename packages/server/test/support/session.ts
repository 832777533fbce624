// A session of the dashboard as its page holds it: the cookie of an answer, and the headers of a request.
import assert from "node:assert/strict";
import type { Answer, Api } from "./api.ts";

export interface SessionBody {
  readonly csrf: string;
  readonly endsAt: string;
  readonly environments: readonly {
    readonly name: string;
    readonly role: string;
    readonly keyName: string;
    readonly keyId: string;
  }[];
}

type Headers = Readonly<Record<string, string>>;

export interface SetCookie {
  /** As a browser sends it back. */
  readonly pair: string;
  readonly value: string;
  readonly attributes: readonly string[];
}

/** The one cookie that an answer sets; undefined when it sets none. */
export const setCookieOf = (answer: Pick<Answer, "headers">): SetCookie | undefined => {
  const [text, ...others] = answer.headers.getSetCookie();
  assert.deepEqual(others, []);
  if (text === undefined) return undefined;
  const [pair = "", ...attributes] = text.split("; ");
  return { pair, value: pair.slice(pair.indexOf("=") + 1), attributes: attributes.sort() };
};

export interface TestSession extends SessionBody {
  readonly cookie: string;
  /** What the page sends with a request to an environment. */
  headersFor(environment: string): Headers;
}

export const sessionOf = (answer: Answer): TestSession => {
  assert.equal(answer.status, 200, answer.text);
  const body = answer.body as SessionBody;
  const cookie = setCookieOf(answer)?.pair ?? "";
  return {
    ...body,
    cookie,
    headersFor: (environment) => ({
      cookie,
      "x-halyard-environment": environment,
      "x-halyard-csrf": body.csrf,
    }),
  };
};

/** Signs in with one key after the other, in one session. */
export const signInWith = async (
  { anonymous }: { readonly anonymous: Api },
  keys: readonly string[],
  headers: Headers = {},
): Promise<TestSession> => {
  let session: TestSession | undefined;
  for (const key of keys) {
    const earlier: Headers = session ? { cookie: session.cookie } : {};
    const body = { key };
    session = sessionOf(await anonymous("POST", "//session", body, { ...headers, ...earlier }));
  }
  assert.ok(session, "no key was given");
  return session;
};
