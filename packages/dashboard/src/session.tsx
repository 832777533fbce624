// Who is signed in, to which environments, and which of them this tab shows.
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
  /** Reads it from the server again, after signing in or out. */
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
  /** False with a server key: it may read only. */
  readonly mayChange: boolean;
}

const SessionContext = createContext<SessionState | undefined>(undefined);
const ApiContext = createContext<Api | undefined>(undefined);

const keptName = "halyard-environment";
/** Of the tab, so that two tabs show two environments side by side; a new tab begins where the last one was. */
const keptEnvironment = (): string | null =>
  sessionStorage.getItem(keptName) ?? localStorage.getItem(keptName);
const keepEnvironment = (name: string): void => {
  sessionStorage.setItem(keptName, name);
  localStorage.setItem(keptName, name);
};

/** By its name: the environment where real users are. */
export const isProductionName = (name: string): boolean =>
  /^(prod|production|live)(?![a-z])/i.test(name);

const checkEvery = 60_000;

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient();
  const [chosen, setChosen] = useState(keptEnvironment);
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
    // Nobody must take one environment for the other.
    notifyDone({
      title: `You are no longer signed in to ${before}`,
      message: `You see ${name} now.`,
    });
  }, [name, session]);
  const choose = useCallback((name: string) => {
    keepEnvironment(name);
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
  // A new token must not end the stream: it is looked up when it is needed.
  const csrf = useRef(session.csrf);
  useEffect(() => {
    csrf.current = session.csrf;
  }, [session.csrf]);
  const fetch = useMemo(() => createSessionFetch(name, () => csrf.current, ended), [name, ended]);
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
  useEffect(() => keepEnvironment(name), [name]);
  return <ApiContext value={api}>{children}</ApiContext>;
};

/** The environment that is shown, on every page behind the sign-in. */
export const useApi = (): Api => {
  const api = use(ApiContext);
  if (api === undefined) throw new Error("useApi outside of ApiProvider");
  return api;
};
