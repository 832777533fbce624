// The session: the environments it is signed in to, and the API of the one that the address names.
import { isProductionName } from "@halyard/core/environment-name";
import type { Management } from "@halyard/sdk/management";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useState,
} from "react";
import {
  createSessionFetch,
  createSessionManagement,
  readSession,
  type Session,
  type SessionEnvironment,
  type SessionFetch,
  type SessionUse,
} from "./api.ts";
import { forgetEnvironment, storedEnvironment, storeEnvironment } from "./start/first-requests.ts";

interface SessionState {
  readonly session: Session | undefined;
  readonly loading: boolean;
  readonly error: Error | null;
  /** Refetches the session after signing in or out. */
  readonly refresh: () => Promise<void>;
  /** After signing in: the server has answered with it. */
  readonly accept: (session: Session) => void;
  /** One for all, so that a new token does not restart streams. */
  readonly use: SessionUse;
}

export interface Api {
  readonly management: Management;
  readonly fetch: SessionFetch;
  readonly environment: SessionEnvironment;
  readonly isProduction: boolean;
  /** Flags and segments; false for those who only look. */
  readonly mayChange: boolean;
  readonly may: (permission: string) => boolean;
  /** Whether changes of flags and segments are proposed, for another person to approve. */
  readonly proposes: boolean;
  /** Whether a change is asked about, with the reason for it. */
  readonly asksReason: boolean;
}

const SessionContext = createContext<SessionState | undefined>(undefined);
const ApiContext = createContext<Api | undefined>(undefined);

export const lastEnvironment = ({ environments }: Session): string | undefined => {
  const stored = storedEnvironment();
  return environments.find(({ name }) => name === stored)?.name ?? environments[0]?.name;
};

const endKey = "halyard-session-ends";
const personKey = "halyard-session-of-person";
/** The session that this tab had; undefined when there was none, or the user has signed out. */
export const lastSession = ():
  | { readonly endsAt: string; readonly ofPerson: boolean }
  | undefined => {
  const endsAt = sessionStorage.getItem(endKey);
  return endsAt === null
    ? undefined
    : { endsAt, ofPerson: sessionStorage.getItem(personKey) !== null };
};
const rememberSession = ({ endsAt, user }: Session): void => {
  sessionStorage.setItem(endKey, endsAt);
  if (user) sessionStorage.setItem(personKey, "1");
  else sessionStorage.removeItem(personKey);
};

/** Of the contexts to try flags with, which may be about real people. */
export const contextsPrefix = "halyard-contexts ";

/** To be called when the user signs out: nothing of theirs stays in the browser, nor is anything requested for them. */
export const forgetTab = (): void => {
  sessionStorage.clear();
  const contexts = Object.keys(localStorage).filter((key) => key.startsWith(contextsPrefix));
  for (const key of contexts) localStorage.removeItem(key);
  forgetEnvironment();
};

const checkEvery = 60_000;

export const SessionProvider = ({ children }: { readonly children: ReactNode }) => {
  const queries = useQueryClient();
  const query = useQuery({
    queryKey: ["session"],
    queryFn: async () => (await readSession()) ?? null,
    refetchInterval: checkEvery,
    staleTime: checkEvery,
  });
  const session = query.data ?? undefined;
  useEffect(() => {
    if (session !== undefined) rememberSession(session);
  }, [session]);
  const refresh = useCallback(
    () => queries.invalidateQueries({ queryKey: ["session"] }),
    [queries],
  );
  const [use] = useState<SessionUse>(() => ({
    csrf: "",
    onEnded: () => void refresh(),
    onProposed: () =>
      void queries.invalidateQueries({
        predicate: ({ queryKey }) => queryKey[1] === "change-requests",
      }),
    onChanged: () => {},
    signInAgain: async () => false,
    confirmFlips: async () => undefined,
  }));
  useLayoutEffect(() => {
    if (session !== undefined) use.csrf = session.csrf;
  }, [session, use]);
  const accept = useCallback(
    (next: Session) => {
      use.csrf = next.csrf;
      queries.setQueryData(["session"], next);
    },
    [queries, use],
  );
  const state = useMemo<SessionState>(
    () => ({
      session,
      loading: query.isPending,
      error: query.error,
      refresh,
      accept,
      use,
    }),
    [session, query.isPending, query.error, refresh, accept, use],
  );
  return <SessionContext value={state}>{children}</SessionContext>;
};

export const useSession = (): SessionState => {
  const state = use(SessionContext);
  if (state === undefined) throw new Error("useSession outside of SessionProvider");
  return state;
};

const createApi = (environment: SessionEnvironment, fetch: SessionFetch): Api => {
  const isProduction = isProductionName(environment.name);
  const proposes = environment.protected && !environment.writesDirectly;
  return {
    management: createSessionManagement(fetch),
    fetch,
    environment,
    isProduction,
    mayChange: environment.permissions.includes("flags.write"),
    may: (permission) => environment.permissions.includes(permission),
    proposes,
    asksReason: isProduction || proposes,
  };
};

interface ApiProviderProps {
  readonly environment: SessionEnvironment;
  readonly children: ReactNode;
}

export const ApiProvider = ({ environment, children }: ApiProviderProps) => {
  const { use: sessionUse } = useSession();
  const { name } = environment;
  /** The session is read again and again: what is the same must not restart anything. */
  const text = JSON.stringify(environment);
  const fetch = useMemo(() => createSessionFetch(name, sessionUse), [name, sessionUse]);
  const api = useMemo(() => createApi(JSON.parse(text), fetch), [fetch, text]);
  useEffect(() => storeEnvironment(name), [name]);
  return <ApiContext value={api}>{children}</ApiContext>;
};

/** The API of the environment that is shown; for pages that need a session. */
export const useApi = (): Api => {
  const api = use(ApiContext);
  if (api === undefined) throw new Error("useApi outside of ApiProvider");
  return api;
};

/** For what concerns the session itself. */
export const useSessionFetch = (): SessionFetch => {
  const { use: sessionUse } = useSession();
  return useMemo(() => createSessionFetch(undefined, sessionUse), [sessionUse]);
};

/** The APIs of all environments that the session is signed in to. */
export const useApis = (): readonly Api[] => {
  const { session, use: sessionUse } = useSession();
  const environments = session?.environments;
  return useMemo(
    () =>
      (environments ?? []).map((environment) =>
        createApi(environment, createSessionFetch(environment.name, sessionUse)),
      ),
    [environments, sessionUse],
  );
};
