// Lets a person confirm a change that the limit on flips has refused, wherever it was asked for.
import { useEffect } from "react";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { loadOrNotify } from "../pages/load-page.tsx";
import { useSession } from "../session.tsx";

export const AskFlips = () => {
  const { use } = useSession();
  const ask = useConfirm();
  useEffect(() => {
    use.confirmFlips = async (refusal, together) => {
      const loaded = await loadOrNotify(() => import("./confirm-flips.tsx"));
      return loaded?.confirmFlips(ask, refusal, together);
    };
  }, [use, ask]);
  return null;
};
