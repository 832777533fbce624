// The calls of the account page: password, second factor, sessions.
import type { Result } from "@halyard/sdk/management";
import { useMemo } from "react";
import { type SessionFetch, sessionCall, withJson } from "../api.ts";
import { useSessionFetch } from "../session.tsx";

export interface ListedSession {
  readonly id: string;
  readonly current: boolean;
  /** Such as "password" or "oidc:acme". */
  readonly method: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly createdAt: string;
  readonly usedAt: string;
}

export interface PendingFactor {
  readonly secret: string;
  /** What authenticator apps read from the QR code. */
  readonly uri: string;
}

export interface RecoveryCodes {
  readonly recoveryCodes: readonly string[];
}

const callsWith = (fetch: SessionFetch) => {
  const call = <T>(path: string, init?: RequestInit): Promise<Result<T>> =>
    sessionCall(`/session/${path}`, init, fetch);
  return {
    sessions: () => call<readonly ListedSession[]>("list"),
    endSession: (id: string) =>
      call<undefined>(`list/${encodeURIComponent(id)}`, { method: "DELETE" }),
    endOtherSessions: () => call<undefined>("list", { method: "DELETE" }),
    setPassword: (given: { readonly current: string; readonly password: string }) =>
      call<unknown>("password", withJson("PUT", given)),
    beginFactor: () => call<PendingFactor>("second-factor", { method: "POST" }),
    confirmFactor: (code: string) =>
      call<RecoveryCodes>("second-factor", withJson("PUT", { code })),
    removeFactor: () => call<undefined>("second-factor", { method: "DELETE" }),
    newRecoveryCodes: () => call<RecoveryCodes>("recovery-codes", { method: "POST" }),
  };
};

export const useAccountCalls = () => {
  const fetch = useSessionFetch();
  return useMemo(() => callsWith(fetch), [fetch]);
};
