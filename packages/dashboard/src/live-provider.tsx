// Provides the live flags and segments to the pages, and refetches their queries when the stream reports a change.
import { kindNames } from "@halyard/core/kinds";
import { useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  use,
  useEffect,
  useState,
  useSyncExternalStore,
} from "react";
import { type Changed, createLive, type Live, type LiveState, nothingYet } from "./live.ts";
import { useApi, useSession } from "./session.tsx";

const LiveContext = createContext<Live | undefined>(undefined);

const disconnected: Live = {
  state: () => nothingYet,
  subscribe: () => () => {},
  onChange: () => () => {},
  assume: () => () => {},
  put: () => {},
  putSegment: () => {},
  close: () => {},
};

/** Changes within this time cause one refetch. */
const refetchDelay = 150;

export const LiveProvider = ({ children }: { readonly children: ReactNode }) => {
  const { fetch, environment } = useApi();
  const { name } = environment;
  const { refresh } = useSession();
  const queries = useQueryClient();
  const [live, setLive] = useState(disconnected);
  useEffect(() => {
    const made = createLive(fetch);
    setLive(made);
    let timer: number | undefined;
    /** Null when anything may have changed. */
    let changed: Changed[] | null = [];
    const refetch = () => {
      timer = undefined;
      const stale = changed?.map(({ kind, key }) => [kind, key]) ?? kindNames.map((kind) => [kind]);
      changed = [];
      for (const part of [...stale, ["history"], ["deliveries"], ["change-requests"]]) {
        void queries.invalidateQueries({ queryKey: [name, ...part] });
      }
    };
    made.onChange((each) => {
      if (each === undefined) changed = null;
      else changed?.push(each);
      timer ??= window.setTimeout(refetch, refetchDelay);
    });
    let { status } = made.state();
    made.subscribe(() => {
      const before = status;
      status = made.state().status;
      // The server ends the stream when the rights of whoever follows it change.
      if (status === "live" && before !== "live" && before !== "connecting") void refresh();
    });
    return () => {
      window.clearTimeout(timer);
      made.close();
    };
  }, [fetch, name, queries, refresh]);
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
