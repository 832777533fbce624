// Asks the person to prove once more who they are, when the server wants that before something dangerous.
import { type ComponentType, type ReactNode, useEffect, useRef, useState } from "react";
import { loadOrNotify } from "../pages/load-page.tsx";
import { useSession } from "../session.tsx";
import type { SignInAgainProps } from "./sign-in-again.tsx";

export const AskAgain = ({ children }: { readonly children: ReactNode }) => {
  const { use } = useSession();
  const [Dialog, setDialog] = useState<ComponentType<SignInAgainProps> | undefined>();
  const asked = useRef<{ answer: Promise<boolean>; settle: (isSignedIn: boolean) => void }>(
    undefined,
  );
  const finish = (isSignedIn: boolean) => {
    setDialog(undefined);
    asked.current?.settle(isSignedIn);
    asked.current = undefined;
  };
  useEffect(() => {
    use.signInAgain = async () => {
      // Requests that were refused together ask once.
      if (asked.current) return asked.current.answer;
      const { promise: answer, resolve: settle } = Promise.withResolvers<boolean>();
      asked.current = { answer, settle };
      const loaded = await loadOrNotify(() => import("./sign-in-again.tsx"));
      if (loaded) setDialog(() => loaded.SignInAgain);
      else {
        settle(false);
        asked.current = undefined;
      }
      return answer;
    };
  }, [use]);
  return (
    <>
      {children}
      {Dialog !== undefined && <Dialog onDone={finish} />}
    </>
  );
};
