// The answer to a bulk evaluation: the bytes of each flag's body are kept, so an answer is copied together, and its tag is
// made from their digests. Beside joining and hashing texts, an answer with 1,000 flags costs about half.
import { hash } from "node:crypto";
import type { EvaluationContext } from "@halyard/core/context";
import type { Evaluation } from "@halyard/core/evaluate";
import { evaluateInBulk } from "../../evaluation/evaluate.ts";
import type { EvaluationFlag, Snapshot } from "../../evaluation/snapshot.ts";
import { type Audience, bodyOf, type EvaluationRecords, flagSetIdOf } from "./answers.ts";

interface Body {
  readonly evaluation: Evaluation;
  /** With a comma at its end. */
  readonly bytes: Uint8Array;
  /** The first 128 bits of its SHA-256. */
  readonly digest: Uint32Array;
}

interface KeptFlag {
  readonly entry: EvaluationFlag;
  /** A prepared flag has a fixed set of results, one object for each. */
  readonly bodies: Body[];
}

/** In the order of the snapshot's flags. */
type KeptFlags = (KeptFlag | undefined)[];
const kept = {
  full: new WeakMap<Snapshot, KeptFlags>(),
  values: new WeakMap<Snapshot, KeptFlags>(),
};

const wordsOfDigest = 4;

const writeBody = (
  entry: EvaluationFlag,
  evaluation: Evaluation,
  audience: Audience,
  flagSetId: string | undefined,
): Body => {
  const text = bodyOf(entry, evaluation, audience, flagSetId);
  const digest = new Uint32Array(wordsOfDigest);
  new Uint8Array(digest.buffer).set(hash("sha256", text, "buffer").subarray(0, 16));
  return { evaluation, bytes: Buffer.from(`${text},`), digest };
};

const keptFlags = (snapshot: Snapshot, audience: Audience): KeptFlags => {
  const known = kept[audience].get(snapshot);
  if (known) return known;
  const made: KeptFlags = [];
  kept[audience].set(snapshot, made);
  return made;
};

const begin = Buffer.from('{"flags":[');
const [comma, bracket] = [0x2c, 0x5d];
/** For the digests of one answer; nothing waits while it is in use. */
let words = new Uint32Array(wordsOfDigest * 1_024);

const bodyAt = (
  flags: KeptFlags,
  index: number,
  entry: EvaluationFlag,
  context: EvaluationContext,
  audience: Audience,
  flagSetId: string | undefined,
  totals: EvaluationRecords["counts"],
): Body => {
  let flag = flags[index];
  if (flag === undefined || flag.entry !== entry) {
    flag = { entry, bodies: [] };
    flags[index] = flag;
  }
  const evaluation = evaluateInBulk(entry, context, totals);
  for (const body of flag.bodies) if (body.evaluation === evaluation) return body;
  const body = writeBody(entry, evaluation, audience, flagSetId);
  flag.bodies.push(body);
  return body;
};

export interface BulkAnswer {
  readonly tag: string;
  readonly body: Buffer;
}

/**
 * The tag depends on every byte of the answer. The address of the event stream is part of it: clients take it from their
 * last whole answer, so a 304 must not leave them with one that is over.
 */
export const evaluateAll = (
  snapshot: Snapshot,
  context: EvaluationContext,
  streamUrl: string | undefined,
  audience: Audience,
  records: EvaluationRecords,
): BulkAnswer => {
  const totals = records.counts;
  const flagSetId = flagSetIdOf(snapshot, records);
  totals.bulk += 1;
  snapshot.bulk.on += 1;
  const rest = Buffer.from(
    JSON.stringify({
      metadata: { environment: snapshot.environmentName },
      ...(streamUrl !== undefined && {
        eventStreams: [{ type: "sse", url: streamUrl, inactivityDelaySec: 120 }],
      }),
    }),
  );
  const entries = snapshot.all();
  const flags = keptFlags(snapshot, audience);
  if (flags.length > entries.length) flags.length = entries.length;
  const needed = wordsOfDigest * entries.length + rest.length;
  if (words.length < needed) words = new Uint32Array(2 * needed);

  const bodies: Body[] = [];
  let length = begin.length + rest.length + 1;
  let at = 0;
  for (let index = 0; index < entries.length; index += 1) {
    const entry = entries[index] as EvaluationFlag;
    const body = bodyAt(flags, index, entry, context, audience, flagSetId, totals);
    const { digest } = body;
    for (let word = 0; word < wordsOfDigest; word += 1) words[at + word] = digest[word] as number;
    at += wordsOfDigest;
    bodies.push(body);
    length += body.bytes.length;
  }

  const body = Buffer.allocUnsafe(length);
  body.set(begin);
  let end = begin.length;
  for (const { bytes } of bodies) {
    body.set(bytes, end);
    end += bytes.length;
  }
  // The last comma becomes the end of the list; an empty list has none.
  if (entries.length === 0) end += 1;
  body[end - 1] = bracket;
  body[end] = comma;
  body.set(rest.subarray(1), end + 1);
  const named = Buffer.from(words.buffer, 0, 4 * at + rest.length);
  named.set(rest, 4 * at);
  return {
    tag: hash("sha256", named, "base64url").slice(0, 27),
    body: body.subarray(0, end + rest.length),
  };
};
