// The people of the server of the pictures, and a change of production that waits for one of them.
import { newAccount } from "../packages/server/test/support/accounts.ts";
import { addPerson, type Person, signInUser } from "../packages/server/test/support/people.ts";
import type { TestServer } from "../packages/server/test/support/server.ts";

const others: readonly Person[] = [
  { name: "Jun Park", roles: { development: "admin", production: "editor" } },
  { name: "Lena Vogel", roles: { development: "editor", production: "viewer" } },
  { name: "Sofia Rossi", owner: true },
];

const emailOf = (name: string): string => `${name.toLowerCase().replaceAll(" ", ".")}@example.com`;

export const addShownPeople = async (
  server: TestServer,
): Promise<{ readonly requestId: string; readonly cookie: string }> => {
  const add = (person: Person) =>
    newAccount(server, { ...person, email: emailOf(person.name ?? "") });
  for (const person of others) await add(person);
  const invited = "Omar Haddad";
  await addPerson(server, {
    ...{ name: invited, email: emailOf(invited) },
    roles: { development: "viewer" },
  });
  const signIn = async (person: Person) => signInUser(server, (await add(person)).userId);
  const maya = await signIn({ name: "Maya Lindqvist", owner: true });
  const noor = await signIn({ name: "Noor Jansen", roles: { production: "editor" } });
  await maya.in("production")("PATCH", "/environments/production", { protected: true });
  const proposed = await noor.in("production")("POST", "/change-requests", {
    operations: [
      {
        ...{ kind: "flag", key: "new-checkout", action: "patch" },
        body: { percentage: 50, description: "One page instead of four, for half of the shop." },
      },
      { kind: "flag", key: "legacy-api", action: "patch", body: { enabled: false } },
    ],
    reason: "The load test went well, see SHOP-311",
  });
  const { id } = proposed.body as { id?: string };
  if (id === undefined) throw new Error(proposed.text);
  await noor.in("production")("POST", `/change-requests/${id}/comments`, {
    text: "Support knows, and stays until six.",
  });
  return { requestId: id, cookie: maya.cookie };
};
