// Somebody's way to a provider and back, in a cookie of their own browser: sealed, short-lived, and gone with the first answer.
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Cookies } from "../../../platform/auth/cookies.ts";
import type { Seal } from "../../../platform/auth/seal.ts";
import type { Clock } from "../../../platform/database/store.ts";
import type { Flow } from "./providers/provider.ts";

export interface BrowserFlow extends Flow {
  readonly provider: string;
  /** Where they go afterwards. */
  readonly to: string;
  /** The token of the invitation that they accept. */
  readonly invitation: string | null;
  /** Who signs in again; null when it may be anybody. */
  readonly expected: string | null;
  /** The token of the session that they had: the browser does not send its cookie when it comes from another site. */
  readonly earlier: string | null;
}

export interface FlowCookie {
  write(reply: FastifyReply, flow: BrowserFlow): void;
  /** The flow that this browser has begun with the provider; the cookie is gone with the answer. */
  take(request: FastifyRequest, reply: FastifyReply, provider: string): BrowserFlow | undefined;
}

const name = "halyard_sign_in";
const purpose = "flow";
const lifetime = 10 * 60 * 1_000;

export const createFlowCookie = (cookies: Cookies, seal: Seal, clock: Clock): FlowCookie => ({
  write(reply, flow) {
    const text = JSON.stringify({ ...flow, beganAt: flow.beganAt.getTime() });
    const value = seal.seal(text, purpose).toBase64({ alphabet: "base64url", omitPadding: true });
    // The provider sends them back from another site, so it cannot be Strict.
    cookies.set(reply, name, value, { seconds: lifetime / 1_000, sameSite: "Lax" });
  },

  take(request, reply, provider) {
    const [value, ...others] = cookies.valuesOf(request, name);
    if (value === undefined) return undefined;
    cookies.set(reply, name, "", { seconds: 0, sameSite: "Lax" });
    if (others.length > 0) return undefined;
    const text = seal.open(Buffer.from(value, "base64url"), purpose);
    if (text === undefined) return undefined;
    const stored = JSON.parse(text) as BrowserFlow & { readonly beganAt: number };
    const isOver = clock().getTime() - stored.beganAt >= lifetime;
    return isOver || stored.provider !== provider
      ? undefined
      : { ...stored, beganAt: new Date(stored.beganAt) };
  },
});
