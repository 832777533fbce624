// Signs out of every environment.
import { ActionIcon, Tooltip } from "@mantine/core";
import { signOut } from "../../api.ts";
import { forgetTab, useSession } from "../../session.tsx";
import { Icon } from "../display/icon.tsx";
import { notifyError } from "../feedback/notify.tsx";

export const useSignOut = (): (() => Promise<void>) => {
  const { session, refresh } = useSession();
  return async () => {
    const result = await signOut(session?.csrf ?? "");
    if (result.ok) forgetTab();
    else notifyError("Sign-out failed", result.error);
    const elsewhere = result.ok ? result.value?.signOutUrl : undefined;
    if (elsewhere === undefined) await refresh();
    else location.assign(elsewhere);
  };
};

export const SignOut = () => {
  const leave = useSignOut();
  return (
    <Tooltip label="Sign out">
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label="Sign out"
        onClick={() => void leave()}
      >
        <Icon name="leave" />
      </ActionIcon>
    </Tooltip>
  );
};
