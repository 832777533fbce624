// OpenID Connect through openid-client: authorization code with PKCE. Loaded only when a provider is set.
import * as client from "openid-client";
import type { Clock } from "../../../../platform/database/store.ts";
import type { ProviderSettings } from "../provider.ts";
import type { Provider, ProviderAnswer, Providers } from "./provider.ts";

/** Seconds. */
const requestTimeout = 10;
const clockTolerance = 30;

const authenticationOf = ({ clientSecret, clientAuthentication }: ProviderSettings) => {
  if (clientSecret === undefined) return client.None();
  return clientAuthentication === "basic"
    ? client.ClientSecretBasic(clientSecret)
    : client.ClientSecretPost(clientSecret);
};

/** They said no, or the provider did; what is the provider's own fault is not among these. */
const isDenial = (error: unknown): boolean =>
  error instanceof client.AuthorizationResponseError &&
  !["server_error", "temporarily_unavailable"].includes(error.error);

const answerTo = (error: unknown): ProviderAnswer => {
  if (isDenial(error)) return { kind: "denied", error };
  const isOver = error instanceof client.ResponseBodyError && error.error === "invalid_grant";
  return { kind: isOver ? "over" : "failed", error };
};

/** Not in the future, whatever the other clock says. */
const timeIn = (seconds: unknown, now: Date): Date | null =>
  typeof seconds === "number" ? new Date(Math.min(seconds * 1_000, now.getTime())) : null;

const createProvider = (settings: ProviderSettings, publicUrl: string, clock: Clock): Provider => {
  const { issuer, clientId, scopes } = settings;
  const callback = `${publicUrl}/sign-in/oidc/${settings.id}/callback`;
  // Only an issuer on this machine can be one: the settings were checked.
  const isPlain = issuer.startsWith("http:");
  const clientMetadata = { [client.clockTolerance]: clockTolerance };
  const authentication = authenticationOf(settings);

  /**
   * Asked each time: who is sent to a provider that does not answer sees nothing of ours, and a key that it has withdrawn is no
   * longer good.
   */
  const configure = (): Promise<client.Configuration> =>
    client.discovery(new URL(issuer), clientId, clientMetadata, authentication, {
      timeout: requestTimeout,
      execute: [
        client.enableNonRepudiationChecks,
        ...(isPlain ? [client.allowInsecureRequests] : []),
      ],
    });

  return {
    settings,

    async begin(isFresh) {
      const configuration = await configure();
      const secrets = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: callback,
        scope: scopes.join(" "),
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: "S256",
        ...(isFresh && { prompt: "login", max_age: "0" }),
      });
      return { url: url.href, secrets };
    },

    async finish(query, flow) {
      try {
        const configuration = await configure();
        const tokens = await client.authorizationCodeGrant(
          configuration,
          new URL(`${callback}${query}`),
          {
            pkceCodeVerifier: flow.verifier,
            expectedState: flow.state,
            expectedNonce: flow.nonce,
            idTokenExpected: true,
            // They must have signed in there since they left from here.
            ...(flow.isFresh &&
              settings.authTime === "required" && {
                maxAge: Math.ceil((clock().getTime() - flow.beganAt.getTime()) / 1_000),
              }),
          },
        );
        const claims = tokens.claims();
        if (!claims || tokens.id_token === undefined) throw new Error("there is no id token");
        // Providers differ in what they write into the token itself.
        const more = configuration.serverMetadata().userinfo_endpoint
          ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : {};
        return {
          kind: "proven",
          identity: { issuer: claims.iss, subject: claims.sub },
          claims: { ...more, ...claims },
          provenAt: flow.isFresh ? clock() : timeIn(claims.auth_time, clock()),
          idToken: tokens.id_token,
        };
      } catch (error) {
        return answerTo(error);
      }
    },

    async signOutUrl(idToken) {
      const configuration = await configure().catch(() => undefined);
      if (!configuration?.serverMetadata().end_session_endpoint) return undefined;
      return client.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: `${publicUrl}/sign-in`,
        ...(idToken !== undefined && { id_token_hint: idToken }),
      }).href;
    },
  };
};

export const createProviders = (
  settings: readonly ProviderSettings[],
  publicUrl: string,
  clock: Clock,
): Providers => new Map(settings.map((each) => [each.id, createProvider(each, publicUrl, clock)]));
