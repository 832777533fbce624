// People with a password: invited in the store, accepted and signed in over HTTP.
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { insertSignInLink } from "../../src/features/people/sign-in/queries.ts";
import type { Answer } from "./api.ts";
import { addPerson, type Person, withStore } from "./people.ts";
import type { TestServer } from "./server.ts";
import { sessionOf, type TestSession } from "./session.ts";

export const goodPassword = "four plain words in a row";

let people = 0;
/** An address that nobody else has. */
export const newEmail = (): string => {
  people += 1;
  return `person-${people}@example.com`;
};

/** An invitation of somebody who has an account. */
export const invite = async (
  server: Pick<TestServer, "folder">,
  userId: string,
  expiresAt = new Date(Date.now() + 7 * 86_400_000),
): Promise<string> => {
  const token = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(token).digest();
  await withStore(server, (store) =>
    store.transact((transaction) =>
      insertSignInLink(
        transaction,
        { hash, keyIds: [], userId, invitedBy: null, expiresAt },
        new Date(),
      ),
    ),
  );
  return token;
};

export interface Account {
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
  /** The one that the invitation began. */
  readonly session: TestSession;
}

/** Somebody who has accepted their invitation. */
export const newAccount = async (
  server: Pick<TestServer, "folder" | "anonymous">,
  { name = "Grace", email = newEmail(), ...person }: Person = {},
  password = goodPassword,
): Promise<Account> => {
  const userId = await addPerson(server, { name, email, ...person });
  const token = await invite(server, userId);
  const body = { token, name, password };
  const session = sessionOf(await server.anonymous("POST", "//session/invitation", body));
  return { userId, email, name, password, session };
};

export interface Proof {
  readonly email: string;
  readonly password: string;
  readonly code?: string;
}

export const signIn = (
  server: Pick<TestServer, "anonymous">,
  { email, password, code }: Proof,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> =>
  server.anonymous(
    "POST",
    "//session/password",
    { email, password, ...(code !== undefined && { code }) },
    headers,
  );

/** What the page sends with its session when it is about the account itself. */
export const headersOf = ({ cookie, csrf }: Pick<TestSession, "cookie" | "csrf">) => ({
  cookie,
  "x-halyard-csrf": csrf,
});

/** Signs in, and it works. */
export const signedIn = async (
  server: Pick<TestServer, "anonymous">,
  proof: Proof,
): Promise<TestSession> => sessionOf(await signIn(server, proof));

export const codeNeeded = (answer: Answer): void => {
  assert.equal(answer.status, 401, answer.text);
  const { details } = answer.body as { details?: { field: string }[] };
  assert.equal(details?.[0]?.field, "code", answer.text);
};
