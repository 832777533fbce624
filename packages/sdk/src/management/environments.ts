// Environments, as requests and responses contain them, and the calls for them.
import {
  type CallOptions,
  type ChangeOptions,
  type createSend,
  type PostOptions,
  pathPart,
} from "./call.ts";
import type { ManagementError, Result } from "./result.ts";

export interface EnvironmentPatch {
  /** The display name; null for its name. */
  readonly label?: string | null;
  /** Whether changes of its flags and segments need the approval of another person. */
  readonly protected?: boolean;
  /** When it is deleted with everything in it; null to keep it. */
  readonly expiresAt?: string | null;
  /** The impact limit of a change, in percent; null for none. */
  readonly maxFlips?: number | null;
}

export interface NewEnvironment extends EnvironmentPatch {
  readonly name: string;
  /** Instead of `expiresAt`: 90m, 12h or 7d. */
  readonly expiresIn?: string;
  /** The name of an environment whose flags and segments are copied. */
  readonly copyOf?: string;
}

export interface Environment extends Required<EnvironmentPatch> {
  readonly name: string;
  readonly createdAt: string;
  /** How many flags it has. */
  readonly flags: number;
  /** The role that the caller has in it. */
  readonly role: "client" | "server" | "viewer" | "editor" | "admin" | "owner";
}

export interface CreatedEnvironment extends Environment {
  /** An admin key of the environment. Returned only once. */
  readonly key: { readonly id: string; readonly key: string };
}

/** Its keys no longer work; the rest is deleted in the background. */
export interface ClosedEnvironment {
  readonly name: string;
  readonly state: "deleting";
}

interface Calls {
  readonly send: ReturnType<typeof createSend>;
  readonly get: <T>(path: string, options?: CallOptions) => Promise<Result<T>>;
  readonly post: <T>(path: string, body: unknown, options?: PostOptions) => Promise<Result<T>>;
}

/** A large environment takes a while to copy. */
const createTimeout = 120_000;

/** Not found on a retry: the first attempt deleted it. */
const goneIsDone = (error: ManagementError): Result<undefined> =>
  error.code === "NOT_FOUND" ? { ok: true, value: undefined } : { ok: false, error };

export const environmentCalls = ({ send, get, post }: Calls) => ({
  /** The environments that the caller can access: the key's own, or all for an owner. */
  list: (options?: CallOptions) => get<Environment[]>("/environments", options),
  /** For owners, as are all calls below. */
  create: (made: NewEnvironment, options?: PostOptions) =>
    post<CreatedEnvironment>("/environments", made, { timeout: createTimeout, ...options }),
  /**
   * Not retried after a lost response: that could undo a change made in between. Removing the protection creates a change
   * request, which another person must approve.
   */
  update: (name: string, patch: EnvironmentPatch, options?: Omit<ChangeOptions, "ifMatch">) =>
    send<Environment>({
      method: "PATCH",
      path: `/environments/${pathPart(name)}`,
      body: patch,
      repeatable: false,
      takesReason: true,
      options,
    }),
  /** With `flags`, even if it contains flags. Undefined if everything is deleted already. */
  delete: (
    name: string,
    { flags = false, ...options }: CallOptions & { readonly flags?: boolean } = {},
  ) =>
    send<ClosedEnvironment | undefined>({
      method: "DELETE",
      path: `/environments/${pathPart(name)}${flags ? "?flags=true" : ""}`,
      repeatable: true,
      reconsider: goneIsDone,
      options,
    }),
});
