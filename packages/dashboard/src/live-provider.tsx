// Hands the live flags to the pages, and has their queries read again when the stream tells of a change.
import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useState,
  useSyncExternalStore,
} from "react";
import { createLive, type Live, type LiveState } from "./live.ts";
import { useApi } from "./session.tsx";

const LiveContext = createContext<Live | undefined>(undefined);

const nothing: LiveState = { status: "connecting", flags: [], byKey: new Map() };
const nobody: Live = {
  state: () => nothing,
  subscribe: () => () => {},
  onChange: () => () => {},
  assume: () => () => {},
  put: () => {},
  close: () => {},
};

/** So many changes at once are one reading. */
const gatherFor = 150;

export const LiveProvider = ({ children }: { readonly children: ReactNode }) => {
  const { fetch, environment } = useApi();
  const { name } = environment;
  const queries = useQueryClient();
  const [live, setLive] = useState(nobody);
  useEffect(() => {
    const made = createLive(fetch);
    setLive(made);
    let timer: number | undefined;
    const changed = new Set<string | undefined>();
    const readAgain = () => {
      timer = undefined;
      const everything = changed.has(undefined);
      for (const key of everything ? [] : changed) {
        void queries.invalidateQueries({ queryKey: [name, "flag", key] });
      }
      changed.clear();
      if (everything) void queries.invalidateQueries({ queryKey: [name, "flag"] });
      void queries.invalidateQueries({ queryKey: [name, "history"] });
      void queries.invalidateQueries({ queryKey: [name, "deliveries"] });
    };
    made.onChange((key) => {
      changed.add(key);
      timer ??= window.setTimeout(readAgain, gatherFor);
    });
    return () => {
      window.clearTimeout(timer);
      made.close();
    };
  }, [fetch, name, queries]);
  return <LiveContext value={live}>{children}</LiveContext>;
};

export const useLive = (): Live => {
  const live = use(LiveContext);
  if (live === undefined) throw new Error("useLive outside of LiveProvider");
  return live;
};

export const useLiveState = (): LiveState => {
  const live = useLive();
  return useSyncExternalStore(live.subscribe, live.state);
};
