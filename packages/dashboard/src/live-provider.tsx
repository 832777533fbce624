// Provides the live flags to the pages, and refetches their queries when the stream reports a change.
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
const disconnected: Live = {
  state: () => nothing,
  subscribe: () => () => {},
  onChange: () => () => {},
  assume: () => () => {},
  put: () => {},
  close: () => {},
};

/** Changes within this time cause one refetch. */
const refetchDelay = 150;

export const LiveProvider = ({ children }: { readonly children: ReactNode }) => {
  const { fetch, environment } = useApi();
  const { name } = environment;
  const queries = useQueryClient();
  const [live, setLive] = useState(disconnected);
  useEffect(() => {
    const made = createLive(fetch);
    setLive(made);
    let timer: number | undefined;
    const changed = new Set<string | undefined>();
    const refetch = () => {
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
      timer ??= window.setTimeout(refetch, refetchDelay);
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
