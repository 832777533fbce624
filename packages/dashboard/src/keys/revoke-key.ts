// Revokes a key after saying what that means, above all for the key of this very session.
import type { ApiKey } from "@halyard/sdk";
import { useCallback } from "react";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { useApi, useSession } from "../session.tsx";

export type Revoked =
  | "done"
  /** Not confirmed, or refused in a way that the person was told of. */
  | "left"
  /** It is the last key that can change anything here. */
  | "last";

export const useRevokeKey = () => {
  const { management, environment, isProduction } = useApi();
  const { refresh } = useSession();
  const ask = useConfirm();
  return useCallback(
    async ({ id, name, role }: ApiKey): Promise<Revoked> => {
      const isOwn = id === environment.keyId;
      const isSure = await ask({
        title: `Revoke the key ${name}?`,
        body: isOwn
          ? `You are signed in to ${environment.name} with this key: revoking it signs you out of ${environment.name}, here and everywhere else. To come back you need another key.`
          : `Programs that use it are refused within a second, and so is everybody who is signed in with it. It had the role ${role}. This cannot be taken back.`,
        confirmLabel: "Revoke it",
        danger: true,
        ...(isProduction && { typed: name }),
      });
      if (!isSure) return "left";
      const result = await management.keys.revoke(id);
      if (result.ok) {
        notifyDone({ title: name, message: "The key is revoked." });
        if (isOwn) await refresh();
        return "done";
      }
      if (result.error.code === "CONFLICT") return "last";
      notifyError(`${name} was not revoked`, result.error);
      return "left";
    },
    [management, environment, isProduction, refresh, ask],
  );
};
