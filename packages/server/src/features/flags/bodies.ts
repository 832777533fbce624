// Flags as the bodies of answers, written once and kept for as long as the flags stay as they are.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { EnvironmentFlags } from "../../evaluation/flag-reads.ts";
import { jsonType } from "../../platform/http/errors/error-reply.ts";
import type { VersionedFlag } from "../../writes/change.ts";

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

/** A page ends with the flag that exceeds this. */
const maxPageCharacters = 8 * 1_024 * 1_024;
/** Flags are written in parts of about this many characters. */
const partLength = 65_536;

export const pageOfFlags = (
  flags: readonly VersionedFlag[],
  limit: number,
): readonly VersionedFlag[] => {
  let length = 0;
  const end = flags.findIndex((entry, index) => {
    const isFull = index >= limit || length > maxPageCharacters;
    length += isFull ? 0 : flagBody(entry).length;
    return isFull;
  });
  return end === -1 ? flags : flags.slice(0, end);
};

function* partsOf(flags: readonly VersionedFlag[]): Generator<string, void, undefined> {
  let part = "[";
  let separator = "";
  for (const entry of flags) {
    part += separator + flagBody(entry);
    separator = ",";
    if (part.length < partLength) continue;
    yield part;
    part = "";
  }
  yield `${part}]`;
}

/** Short lists are one string; longer ones are a stream, which writes no faster than the client reads. */
export const streamFlags = (flags: readonly VersionedFlag[]): string | Readable => {
  const parts = partsOf(flags);
  const first = parts.next();
  const second = parts.next();
  if (second.done || first.done) return first.value ?? "[]";
  return Readable.from(
    (function* () {
      yield first.value;
      yield second.value;
      yield* parts;
    })(),
    { objectMode: false },
  );
};

export const sendFlag = (reply: FastifyReply, entry: VersionedFlag, status = 200): FastifyReply =>
  reply.code(status).header("etag", `"${entry.version}"`).type(jsonType).send(flagBody(entry));
