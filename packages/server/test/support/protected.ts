// A protected environment, and people in it.
import assert from "node:assert/strict";
import { listEnvironments, updateProtected } from "../../src/platform/environments.ts";
import type { Api } from "./api.ts";
import { type SignedIn, signInAs, withStore } from "./people.ts";
import type { TestEnvironment, TestServer } from "./server.ts";

export const setProtected = (
  where: Pick<TestServer, "folder">,
  name: string,
  isProtected: boolean,
): Promise<void> =>
  withStore(where, (store) =>
    store.transact(async (transaction) => {
      const known = await listEnvironments(transaction);
      const id = known.find((environment) => environment.name === name)?.id ?? 0;
      await transaction.lockEnvironment(id);
      await updateProtected(transaction, id, isProtected);
    }),
  );

export interface Protected extends TestEnvironment {
  readonly ada: SignedIn;
  readonly ben: SignedIn;
  readonly asAda: Api;
  readonly asBen: Api;
}

/** With a flag, a segment, and two editors. */
export const protectedEnvironment = async (server: TestServer): Promise<Protected> => {
  const environment = await server.environment();
  await environment.admin("POST", "/flags", { key: "checkout", type: "boolean" });
  await environment.admin("POST", "/segments", { key: "staff", include: ["ada"] });
  await setProtected(server, environment.name, true);
  const editor = { roles: { [environment.name]: "editor" as const } };
  const ada = await signInAs(server, { name: "Ada", ...editor });
  const ben = await signInAs(server, { name: "Ben", ...editor });
  const { name } = environment;
  return { ...environment, ada, ben, asAda: ada.in(name), asBen: ben.in(name) };
};

export interface Request {
  readonly id: string;
  readonly state: string;
  readonly title: string;
  readonly digest: string;
  readonly moved: readonly string[];
  readonly approvals: readonly { readonly state: string }[];
  readonly comments: readonly { readonly text: string; readonly actor: { name: string } }[];
  readonly operations: readonly {
    readonly key: string;
    readonly version: number | null;
    readonly before: Record<string, unknown> | null;
    readonly after: Record<string, unknown> | null;
  }[];
  readonly author: { readonly name: string };
  readonly bypass: { readonly reason: string } | null;
  readonly closedBy: { readonly name: string } | null;
  readonly appliedRevision: number | null;
}

/** A change that is proposed. */
export const propose = async (
  api: Api,
  body: object,
  path = "/flags/checkout",
): Promise<Request> => {
  const answer = await api("PATCH", path, body);
  assert.equal(answer.status, 202, answer.text);
  const made = answer.body as Request;
  assert.equal(answer.headers.get("location"), `/api/v1/change-requests/${made.id}`);
  return made;
};

/** Does something with a request. */
export const act = (api: Api, { id }: Request, name: string, body?: object) =>
  api("POST", `/change-requests/${id}/${name}`, body);

export const read = async (api: Api, { id }: Request): Promise<Request> =>
  (await api("GET", `/change-requests/${id}`)).body as Request;

export const flagOf = async (api: Api, key = "checkout") =>
  (await api("GET", `/flags/${key}`)).body as Record<string, unknown>;
