// The calls for people and their personal keys.

import type { CreatedApiKey } from "../api-keys.ts";
import { type CallOptions, type PostOptions, pathPart, type Send } from "../call.ts";
import type { Result } from "../result.ts";
import type {
  Invitation,
  InvitedUser,
  NewPersonalKey,
  NewUser,
  PersonalKey,
  User,
  UserPatch,
} from "./people.ts";

interface Calls {
  readonly send: Send;
  readonly get: <T>(path: string, options?: CallOptions) => Promise<Result<T>>;
  readonly post: <T>(path: string, body: unknown, options?: PostOptions) => Promise<Result<T>>;
  readonly remove: (path: string, options?: CallOptions) => Promise<Result<undefined>>;
}

const userPath = (id: string) => `/users/${pathPart(id)}`;

/** For owners. */
export const userCalls = ({ send, get, post, remove }: Calls) => ({
  list: (options?: CallOptions) => get<User[]>("/users", options),
  /** The response contains the link for the person, which is shown only once. */
  invite: (user: NewUser, options?: PostOptions) => post<InvitedUser>("/users", user, options),
  /** Not retried after a lost response: that could undo a change made in between. */
  update: (id: string, patch: UserPatch, options?: CallOptions) =>
    send<User>({ method: "PATCH", path: userPath(id), body: patch, repeatable: false, options }),
  remove: (id: string, options?: CallOptions) => remove(userPath(id), options),
  /** Marks both accounts as one human's: neither can approve a request of the other. */
  link: (id: string, account: string, options?: CallOptions) =>
    send<User>({
      method: "POST",
      path: `${userPath(id)}/linked`,
      body: { account },
      repeatable: true,
      options,
    }),
  /** Separates the account from all accounts that it is linked with. */
  unlink: (id: string, options?: CallOptions) =>
    send<User>({ method: "DELETE", path: `${userPath(id)}/linked`, repeatable: true, options }),
  /** Creates a new link; earlier links of the person stop working. */
  newInvitation: (id: string, options?: CallOptions) =>
    send<Invitation>({
      method: "POST",
      path: `${userPath(id)}/invitation`,
      repeatable: true,
      options,
    }),
});

/** For people who are signed in, in the current environment. */
export const personalKeyCalls = ({ get, post, remove }: Calls) => ({
  list: (options?: CallOptions) => get<PersonalKey[]>("/personal-keys", options),
  create: (key: NewPersonalKey, options?: PostOptions) =>
    post<CreatedApiKey>("/personal-keys", key, options),
  revoke: (id: string, options?: CallOptions) => remove(`/personal-keys/${pathPart(id)}`, options),
});
