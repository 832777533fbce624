// A real OpenID Connect provider (oidc-provider) on this machine, whose people, keys and answers a test decides.
import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type AccountClaims, Provider } from "oidc-provider";

export interface Client {
  readonly id: string;
  readonly secret: string;
  /** Where Halyard is, as browsers see it. */
  readonly publicUrl: string;
  /** What the provider is called there. */
  readonly provider: string;
}

export type IdTokenClaims = Record<string, unknown>;

export interface IdentityProvider {
  readonly issuer: string;
  /** What the provider says of the people that it knows, by subject; a test changes it. */
  readonly people: Map<string, Omit<AccountClaims, "sub">>;
  /** Who signs in next; null says no. */
  visitor: string | null;
  /** Changes the id tokens of the token endpoint, which are then signed again. */
  tamper: ((claims: IdTokenClaims) => IdTokenClaims) | undefined;
  /** What the token endpoint has answered, oldest first. */
  readonly idTokens: string[];
  /** Paths that were requested, oldest first. */
  readonly requests: string[];
  /** New keys in the place of the old ones. Tokens are signed with the old ones all the same when it says so. */
  rotateKeys(options?: { readonly signWithOld?: boolean }): void;
  register(client: Client): void;
  /** Nobody can reach it until `open`. */
  shut(): Promise<void>;
  open(): Promise<void>;
  close(): Promise<void>;
}

const newKey = () => {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const kid = `key-${Math.random().toString(36).slice(2)}`;
  return { ...privateKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" };
};
type Key = ReturnType<typeof newKey>;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const signed = (claims: IdTokenClaims, key: Key): string => {
  const content = `${encode({ alg: "ES256", kid: key.kid })}.${encode(claims)}`;
  const privateKey = createPrivateKey({ format: "jwk", key });
  const signature = sign("sha256", Buffer.from(content), {
    key: privateKey,
    dsaEncoding: "ieee-p1363",
  });
  return `${content}.${signature.toString("base64url")}`;
};

const claimsOf = (token: string): IdTokenClaims =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as IdTokenClaims;

const form = `<!doctype html><title>Provider</title><form method="post"><button>Continue</button></form>`;

/** `host` is part of the issuer; another than that of Halyard is another site to a browser. */
export const startIdentityProvider = async (host = "localhost"): Promise<IdentityProvider> => {
  const clients: Client[] = [];
  let key = newKey();
  let signingKey = key;
  let provider: Provider;
  let handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? "";
    state.requests.push(url.replace(/\?.*$/s, ""));
    if (!url.startsWith("/interaction/")) return handle(request, response);
    if (request.method === "POST") return interact(request, response);
    response.setHeader("content-type", "text/html").end(form);
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  const listen = (port: number) =>
    new Promise<void>((done, failed) => {
      server.once("error", failed);
      server.listen(port, "127.0.0.1", done);
    });

  /** Signs in whoever is next, and agrees to everything. */
  const interact = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (state.visitor === null) {
      return provider.interactionFinished(request, response, { error: "access_denied" });
    }
    if (prompt.name === "login") {
      const login = { accountId: state.visitor };
      return provider.interactionFinished(request, response, { login });
    }
    const accountId = session?.accountId ?? "";
    const grant = new provider.Grant({ accountId, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    return provider.interactionFinished(request, response, {
      consent: { grantId: await grant.save() },
    });
  };

  const build = (): void => {
    provider = new Provider(issuer, {
      clients: clients.map(({ id, secret, publicUrl, provider: name }) => ({
        client_id: id,
        client_secret: secret,
        token_endpoint_auth_method: "client_secret_post",
        id_token_signed_response_alg: "ES256",
        redirect_uris: [`${publicUrl}/sign-in/oidc/${name}/callback`],
        post_logout_redirect_uris: [`${publicUrl}/sign-in`],
      })),
      jwks: { keys: [key] },
      cookies: { keys: ["a key of the provider's cookies"] },
      claims: {
        openid: ["sub"],
        profile: ["name"],
        email: ["email", "email_verified"],
        groups: ["groups"],
      },
      scopes: ["openid", "profile", "email", "groups"],
      features: { devInteractions: { enabled: false } },
      // Set, so that the provider does not advise to.
      ttl: { Interaction: 3_600, Session: 3_600, Grant: 3_600, AccessToken: 3_600, IdToken: 3_600 },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      findAccount: (_context, sub) => ({
        accountId: sub,
        claims: () => ({ sub, ...state.people.get(sub) }),
      }),
    });
    provider.use(async (context, next) => {
      await next();
      const body = context.body as { id_token?: string } | undefined;
      if (context.path !== "/token" || body?.id_token === undefined) return;
      if (state.tamper || signingKey !== key) {
        const claims = claimsOf(body.id_token);
        body.id_token = signed(state.tamper?.(claims) ?? claims, signingKey);
      }
      state.idTokens.push(body.id_token);
    });
    handle = provider.callback();
  };

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const issuer = `http://${host}:${port}`;
  const state: IdentityProvider = {
    issuer,
    people: new Map(),
    visitor: null,
    tamper: undefined,
    idTokens: [],
    requests: [],
    rotateKeys({ signWithOld = false } = {}) {
      const old = key;
      key = newKey();
      signingKey = signWithOld ? old : key;
      build();
    },
    register(client) {
      clients.push(client);
      build();
    },
    shut: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
    open: () => listen(port),
    async close() {
      if (server.listening) await state.shut();
    },
  };
  build();
  assert.ok(state.issuer);
  return state;
};
