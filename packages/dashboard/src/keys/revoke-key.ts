// Revokes a key after a confirmation, with a special warning for the key of this session.
import type { ApiKey } from "@halyard/sdk/management";
import { useCallback } from "react";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { useApi, useSession } from "../session.tsx";

export type Revoked =
  | "done"
  /** Cancelled, or refused with a notification. */
  | "not-done"
  /** It is the last admin key of the environment. */
  | "last";

export const useRevokeKey = () => {
  const { management, environment, isProduction } = useApi();
  const { refresh } = useSession();
  const ask = useConfirm();
  return useCallback(
    async ({ id, name, role }: ApiKey): Promise<Revoked> => {
      const isOwn = id === environment.keyId;
      const isSure = await ask({
        title: `Revoke key ${name}?`,
        body: isOwn
          ? `You are signed in to ${environment.name} with this key. Revoking it signs you out of ${environment.name} on every device. You need another key to sign in again.`
          : `Programs that use this ${role} key are refused within a second, and everyone who signed in with it is signed out. This cannot be undone.`,
        confirmLabel: "Revoke key",
        danger: true,
        ...(isProduction && { typed: name }),
      });
      if (!isSure) return "not-done";
      const result = await management.keys.revoke(id);
      if (result.ok) {
        notifyDone({ title: name, message: "Key revoked." });
        if (isOwn) await refresh();
        return "done";
      }
      if (result.error.code === "CONFLICT") return "last";
      notifyError(`${name} was not revoked`, result.error);
      return "not-done";
    },
    [management, environment, isProduction, refresh, ask],
  );
};
