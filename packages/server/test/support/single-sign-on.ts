// A server whose people sign in with providers, and somebody who does.
import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { join } from "node:path";
import { createJourney, type Journey } from "./browser-journey.ts";
import type { IdentityProvider } from "./identity-provider.ts";
import { newFolder, startTestServer, type TestServer } from "./server.ts";

/** The server says its own address to the provider, so it must be known before the start. */
const freePort = (): Promise<number> =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });

export interface SessionAnswer {
  readonly csrf: string;
  readonly method: string;
  readonly signedInAt: string;
  readonly isOwner: boolean;
  readonly user: { readonly id: string; readonly name: string; readonly email: string | null };
  readonly environments: readonly { readonly name: string; readonly role: string }[];
}

export interface SingleSignOn extends TestServer {
  /** Signs in with a provider; gives where it ends, and what the session says then. */
  signIn(journey: Journey, provider: string, query?: string): Promise<URL>;
  /** Undefined when nobody is signed in. */
  sessionOf(journey: Journey): Promise<SessionAnswer | undefined>;
  /** The roles of somebody who signs in now, by environment. */
  rolesAfter(provider: string, journey?: Journey): Promise<Readonly<Record<string, string>>>;
}

type Providers = Readonly<Record<string, IdentityProvider>>;
type ProviderSettings = Readonly<Record<string, object>>;

/** The settings of a server whose people sign in with these; each is called by the name that it is given here. */
export const singleSignOnSettings = async (
  folder: string,
  providers: Providers,
  settings: ProviderSettings = {},
) => {
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const file = join(folder, "providers.json");
  const entries = Object.entries(providers).map(([id, provider]) => {
    const client = { id: `halyard-${id}`, secret: `the secret of ${id}` };
    provider.register({ ...client, publicUrl, provider: id });
    return {
      id,
      name: `The ${id}`,
      issuer: provider.issuer,
      clientId: client.id,
      clientSecret: client.secret,
      scopes: ["openid", "profile", "email", "groups"],
      ...settings[id],
    };
  });
  writeFileSync(file, JSON.stringify(entries));
  return { PORT: String(port), HALYARD_PUBLIC_URL: publicUrl, HALYARD_OIDC_FILE: file };
};

export const startSingleSignOn = async (
  providers: Providers,
  settings: ProviderSettings = {},
  world: Parameters<typeof startTestServer>[1] = {},
): Promise<SingleSignOn> => {
  const folder = newFolder();
  const server = await startTestServer(
    await singleSignOnSettings(folder, providers, settings),
    world,
  );

  const sessionOf: SingleSignOn["sessionOf"] = async (journey) => {
    const cookie = journey.cookieFor(server.url);
    const answer = await server.anonymous("GET", "//session", undefined, { cookie });
    return answer.status === 200 ? (answer.body as SessionAnswer) : undefined;
  };
  const signIn: SingleSignOn["signIn"] = async (journey, provider, query = "") => {
    const { url } = await journey.go(
      `${server.url}/sign-in/oidc/${provider}${query}`,
      ({ origin, pathname }) => origin === server.url && !pathname.startsWith("/sign-in/oidc/"),
    );
    return url;
  };
  return {
    ...server,
    signIn,
    sessionOf,
    async rolesAfter(provider, journey = createJourney()) {
      await signIn(journey, provider);
      const session = await sessionOf(journey);
      assert.ok(session, "nobody is signed in");
      return Object.fromEntries(session.environments.map(({ name, role }) => [name, role]));
    },
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
