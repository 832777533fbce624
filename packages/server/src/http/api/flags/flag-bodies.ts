// Flags as the bodies of answers, written once and kept for as long as the flags stay as they are.
import type { FastifyReply } from "fastify";
import type { VersionedFlag } from "../../../domain/change.ts";
import type { EnvironmentFlags } from "../../../management/flag-reads.ts";
import { jsonType } from "../../errors/error-reply.ts";

const flagBodies = new WeakMap<VersionedFlag, string>();
/** As they are, or as they were: then they have no name. */
export type ListedFlags = Pick<EnvironmentFlags, "revision" | "all"> & { readonly name?: string };

const listBodies = new WeakMap<
  ListedFlags,
  { readonly name: string | undefined; readonly body: Buffer }
>();

/** As text, which Node sends together with the head. */
const flagBody = (entry: VersionedFlag): string => {
  const kept = flagBodies.get(entry);
  if (kept !== undefined) return kept;
  const body = JSON.stringify(entry.flag);
  flagBodies.set(entry, body);
  return body;
};

/** As bytes: a long text would be encoded for each answer. */
export const listBody = (flags: ListedFlags): Buffer => {
  const { name } = flags;
  const kept = listBodies.get(flags);
  if (kept !== undefined && kept.name === name) return kept.body;
  const body = Buffer.from(JSON.stringify(flags.all().map(({ flag }) => flag)));
  listBodies.set(flags, { name, body });
  return body;
};

export const sendFlag = (reply: FastifyReply, entry: VersionedFlag, status = 200): FastifyReply =>
  reply.code(status).header("etag", `"${entry.version}"`).type(jsonType).send(flagBody(entry));
