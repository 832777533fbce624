// Large JSON, compressed for those who take it so.
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

type Coding = "br" | "gzip";

/** Whether a client takes this coding. */
export const accepts = (accepted: string | string[] | undefined, coding: Coding): boolean =>
  String(accepted ?? "")
    .split(",")
    .map((each) =>
      each
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/),
    )
    .some(([name, quality]) => name === coding && !/^q=0(\.0*)?$/.test(quality ?? ""));

/** What is smaller fits into a packet anyway. */
const worthwhile = 1_400;

/** A tenth of what is left costs several times as much time. */
const compress: Readonly<Record<Coding, (bytes: Buffer) => Promise<Buffer>>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: 5 }),
};

/** For as long as someone holds the plain bytes: those who ask for the same share the work. */
const kept = new WeakMap<Buffer, Partial<Record<Coding, Promise<Buffer>>>>();

const compressed = (bytes: Buffer, coding: Coding): Promise<Buffer> => {
  const made = kept.get(bytes) ?? {};
  kept.set(bytes, made);
  made[coding] ??= compress[coding](bytes).catch((error: unknown) => {
    delete made[coding];
    throw error;
  });
  return made[coding];
};

/** Call it last: it sends. */
export const sendCompressed = async (
  request: FastifyRequest,
  reply: FastifyReply,
  bytes: Buffer,
): Promise<FastifyReply> => {
  const vary = reply.getHeader("vary");
  reply.header("vary", vary === undefined ? "accept-encoding" : `${String(vary)}, accept-encoding`);
  const accepted = request.headers["accept-encoding"];
  const coding = (["br", "gzip"] as const).find((each) => accepts(accepted, each));
  if (coding === undefined || bytes.length < worthwhile) return reply.send(bytes);
  return reply.header("content-encoding", coding).send(await compressed(bytes, coding));
};
