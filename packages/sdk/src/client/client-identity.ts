// Identifies a client to the server: an id for each start, a name for people, and the SDK.
import { sdkVersion } from "../transport/sdk-version.ts";

export interface ClientIdentity {
  readonly id: string;
  readonly name: string;
  readonly sdk: string;
}

interface Runtime {
  readonly location?: { readonly origin?: unknown };
  readonly process?: {
    readonly pid?: number;
    readonly env?: Readonly<Record<string, string | undefined>>;
    /** Used instead of an import, because this module also runs in browsers. */
    readonly getBuiltinModule?: (name: string) => { hostname?: () => string } | undefined;
  };
}

/** Undefined where the runtime does not permit it: Deno without permissions and edge runtimes throw. */
const ifPermitted = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** The origin of a page; elsewhere host name and process id. */
const defaultName = (): string => {
  const { location, process } = globalThis as Runtime;
  const origin = ifPermitted(() => location?.origin);
  if (typeof origin === "string") return origin;
  const host =
    ifPermitted(() => process?.getBuiltinModule?.("node:os")?.hostname?.()) ??
    ifPermitted(() => process?.env?.HOSTNAME);
  return [host ?? "unknown host", ifPermitted(() => process?.pid)].join(" ").trim();
};

const maxName = 128;

/** A name that the server accepts. */
const cleaned = (name: string): string =>
  Array.from(name.replaceAll(/\p{Cc}+/gu, " ").trim())
    .slice(0, maxName)
    .join("");

const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");

export const createIdentity = (name?: string): ClientIdentity => ({
  id: newId(),
  name: cleaned(name ?? "") || cleaned(defaultName()),
  sdk: `js/${sdkVersion}`,
});
