// The session: the environments it is signed in to, and the one that this tab shows.
import type { Management } from "@halyard/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import {
  createSessionFetch,
  createSessionManagement,
  readSession,
  type Session,
  type SessionEnvironment,
  type SessionFetch,
} from "./api.ts";
import { notifyDone } from "./components/feedback/notify.tsx";

interface SessionState {
  readonly session: Session | undefined;
  readonly loading: boolean;
  readonly error: Error | null;
  /** Refetches the session after signing in or out. */
  readonly refresh: () => Promise<void>;
  readonly environment: SessionEnvironment | undefined;
  readonly choose: (name: string) => void;
  readonly ended: () => void;
}

export interface Api {
  readonly management: Management;
  readonly fetch: SessionFetch;
  readonly environment: SessionEnvironment;
  readonly isProduction: boolean;
  /** False with a server key, which is read-only. */
  readonly mayChange: boolean;
}

const SessionContext = createContext<SessionState | undefined>(undefined);
const ApiContext = createContext<Api | undefined>(undefined);

const storageKey = "halyard-environment";
/** Per tab, so that two tabs can show two environments; a new tab starts with the last one used. */
const storedEnvironment = (): string | null =>
  sessionStorage.getItem(storageKey) ?? localStorage.getItem(storageKey);
const storeEnvironment = (name: string): void => {
  sessionStorage.setItem(storageKey, name);
  localStorage.setItem(storageKey, name);
};

/** Judged by its name. */
export const isProductionName = (name: string): boolean =>
  /^(prod|production|live)(?![a-z])/i.test(name);

const checkEvery = 60_000;

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState(storedEnvironment);
  const query = useQuery({
    queryKey: ["session"],
    queryFn: async () => (await readSession()) ?? null,
    refetchInterval: checkEvery,
    staleTime: checkEvery,
  });
  const session = query.data ?? undefined;
  const environment =
    session?.environments.find(({ name }) => name === chosen) ?? session?.environments[0];
  const shown = useRef<string | undefined>(undefined);
  const name = environment?.name;
  useEffect(() => {
    const before = shown.current;
    shown.current = name;
    if (before === undefined || name === undefined || before === name) return;
    if (session?.environments.some((each) => each.name === before)) return;
    // The user must notice that the environment changed.
    notifyDone({
      title: `You are no longer signed in to ${before}`,
      message: `You now see ${name}.`,
    });
  }, [name, session]);
  const choose = useCallback((name: string) => {
    storeEnvironment(name);
    setChosen(name);
  }, []);
  const refresh = useCallback(
    () => queries.invalidateQueries({ queryKey: ["session"] }),
    [queries],
  );
  const ended = useCallback(() => void refresh(), [refresh]);
  const state = useMemo<SessionState>(
    () => ({
      session,
      loading: query.isPending,
      error: query.error,
      refresh,
      environment,
      choose,
      ended,
    }),
    [session, query.isPending, query.error, refresh, environment, choose, ended],
  );
  return <SessionContext value={state}>{children}</SessionContext>;
};

export const useSession = (): SessionState => {
  const state = use(SessionContext);
  if (state === undefined) throw new Error("useSession outside of SessionProvider");
  return state;
};

interface ApiProviderProps {
  readonly session: Session;
  readonly environment: SessionEnvironment;
  readonly children: ReactNode;
}

export const ApiProvider = ({ session, environment, children }: ApiProviderProps) => {
  const { ended } = useSession();
  const { name, role, keyName, keyId } = environment;
  // In a ref, so that a new token does not restart the stream.
  const csrf = useRef(session.csrf);
  useEffect(() => {
    csrf.current = session.csrf;
  }, [session.csrf]);
  const fetch = useMemo(() => createSessionFetch(name, csrf, ended), [name, ended]);
  const api = useMemo<Api>(
    () => ({
      management: createSessionManagement(fetch),
      fetch,
      environment: { name, role, keyName, keyId },
      isProduction: isProductionName(name),
      mayChange: role === "admin",
    }),
    [fetch, name, role, keyName, keyId],
  );
  useEffect(() => storeEnvironment(name), [name]);
  return <ApiContext value={api}>{children}</ApiContext>;
};

/** The API of the environment that is shown; for pages that need a session. */
export const useApi = (): Api => {
  const api = use(ApiContext);
  if (api === undefined) throw new Error("useApi outside of ApiProvider");
  return api;
};
