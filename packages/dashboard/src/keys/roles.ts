// What a key of each role may do, in words.
import type { Role } from "@halyard/sdk";

export const roleWords: readonly {
  readonly role: Role;
  readonly may: string;
  readonly where: string;
}[] = [
  {
    role: "client",
    may: "evaluates flags for one user at a time",
    where: "Safe inside a web page or an app: it cannot read the flags themselves.",
  },
  {
    role: "server",
    may: "reads all flags, evaluates them and follows changes",
    where: "For your own servers. It cannot change anything.",
  },
  {
    role: "admin",
    may: "changes flags, webhooks and keys of this environment",
    where: "For people and for automation. Keep it like a password.",
  },
];
