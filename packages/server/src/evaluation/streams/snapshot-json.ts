// An environment as JSON, for streams and for those who poll. It is kept in pieces: a change renders one of them anew, and
// the readers of all revisions share the others.
import { kinds } from "@halyard/core/kinds";
import { segmentOf } from "@halyard/core/targeting/segment";
import type { Revision, VersionedFlag } from "../../writes/change.ts";
import type { WholeSegment } from "../content.ts";
import type { EvaluationFlag, EvaluationSegment, Snapshot } from "../snapshot.ts";
import { contentOf, frameOf } from "./frame.ts";

const entryOf = (member: string, version: number, value: unknown, level: number | undefined) => ({
  version,
  [member]: value,
  // Absent for the first level.
  ...(level !== undefined && { level }),
});

/** Flags of a piece, on average; a power of two. */
const pieceSize = 64;

/** A piece begins where the hash of a key says so: whatever is added or deleted elsewhere, the piece stays the same. */
const beginsPiece = (key: string): boolean => {
  let hash = 0;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x9e3779b1);
  }
  return (hash >>> 16) % pieceSize === 0;
};

interface Piece {
  readonly flags: readonly EvaluationFlag[];
  /** The others begin with a comma. */
  readonly isFirst: boolean;
  readonly frame: Buffer;
}

interface Rendered {
  readonly name: string;
  readonly head: string;
  /** By the key of their first flag. */
  readonly pieces: ReadonlyMap<string, Piece>;
  readonly tail: readonly Buffer[];
  /** All of it as one text, once someone has polled. */
  json?: Buffer;
}

const end = "]}";

type SegmentEntry = Pick<EvaluationSegment, "state" | "version">;

/** What comes before and after the segment itself. */
const segmentAround = (version: number): readonly [before: string, after: string] => {
  const [before = "", after = ""] = JSON.stringify(
    entryOf(kinds.segment.member, version, null, undefined),
  ).split("null");
  return [before, after];
};

/** For as long as the segment stays as it is; shared by the readers of all revisions. */
const segmentFrames = new WeakMap<SegmentEntry, Buffer>();
const segmentFrame = (entry: SegmentEntry): Buffer => {
  const known = segmentFrames.get(entry);
  if (known !== undefined) return known;
  const { state, version } = entry;
  const segment = segmentOf(state);
  const sorted = {
    ...segment,
    include: segment.include.toSorted(),
    exclude: segment.exclude.toSorted(),
  };
  const value = entryOf(kinds.segment.member, version, sorted, undefined);
  const frame = frameOf(JSON.stringify(value));
  segmentFrames.set(entry, frame);
  return frame;
};

/** A single segment, its members sorted: a view of the bytes that all its readers share. */
export const segmentJson = (entry: SegmentEntry): Buffer => {
  const [content = Buffer.alloc(0)] = contentOf(segmentFrame(entry));
  const [before, after] = segmentAround(entry.version);
  return content.subarray(before.length, content.length - after.length);
};

const comma = frameOf(",");
const segmentsBegin = frameOf(`],"${kinds.segment.list}":[`);

/** What follows the flags: the segments, when there are any. */
const tailOf = (segments: readonly EvaluationSegment[]): readonly Buffer[] =>
  segments.flatMap((segment, index) => [
    index === 0 ? segmentsBegin : comma,
    segmentFrame(segment),
  ]);

const isSame = (piece: Piece | undefined, flags: readonly EvaluationFlag[], isFirst: boolean) =>
  piece?.isFirst === isFirst &&
  piece.flags.length === flags.length &&
  piece.flags.every((flag, index) => flag === flags[index]);

const renderPiece = (flags: readonly EvaluationFlag[], isFirst: boolean): Piece => {
  const texts = flags.map(({ version, flag, level }) =>
    JSON.stringify(entryOf(kinds.flag.member, version, flag, level)),
  );
  return { flags, isFirst, frame: frameOf(`${isFirst ? "" : ","}${texts.join(",")}`) };
};

const renderPieces = (
  flags: readonly EvaluationFlag[],
  before: Rendered["pieces"],
): Rendered["pieces"] => {
  const pieces = new Map<string, Piece>();
  for (let begin = 0; begin < flags.length; ) {
    let end = begin + 1;
    while (end < flags.length && !beginsPiece(flags[end]?.flag.key ?? "")) end += 1;
    const part = flags.slice(begin, end);
    const key = part[0]?.flag.key ?? "";
    const known = before.get(key);
    const isFirst = begin === 0;
    pieces.set(key, known && isSame(known, part, isFirst) ? known : renderPiece(part, isFirst));
    begin = end;
  }
  return pieces;
};

const kept = new WeakMap<Snapshot, Rendered>();

const render = (snapshot: Snapshot): Rendered => {
  const known = kept.get(snapshot);
  if (known?.name === snapshot.name) return known;
  const { environmentName, revision, changedAt, name } = snapshot;
  const empty = { environment: environmentName, revision, at: changedAt, [kinds.flag.list]: [] };
  const rendered: Rendered = {
    name,
    head: JSON.stringify(empty).slice(0, -end.length),
    tail: tailOf(snapshot.segments()),
    pieces: renderPieces(snapshot.all(), known?.pieces ?? new Map()),
  };
  kept.set(snapshot, rendered);
  return rendered;
};

/** For those who poll. */
export const snapshotJson = (snapshot: Snapshot): Buffer => {
  const rendered = render(snapshot);
  rendered.json ??= Buffer.concat([
    Buffer.from(rendered.head),
    ...[...rendered.pieces.values()].flatMap(({ frame }) => contentOf(frame)),
    ...rendered.tail.flatMap(contentOf),
    Buffer.from(end),
  ]);
  return rendered.json;
};

/** What `pastSnapshotJson` writes. */
export interface PastContent {
  readonly revision: number;
  readonly changedAt: Date | null;
  readonly flags: readonly VersionedFlag[];
  readonly segments: () => AsyncIterable<WholeSegment>;
}

/** An environment as it was, a segment at a time: nobody else asks for the same, so nothing of it is kept. */
export async function* pastSnapshotJson(
  environment: string,
  { revision, changedAt, flags, segments }: PastContent,
): AsyncGenerator<string, void, undefined> {
  const { flag, segment } = kinds;
  const entries = flags.map((each) => entryOf(flag.member, each.version, each.flag, each.level));
  const head = { environment, revision, at: changedAt, [flag.list]: entries };
  yield JSON.stringify(head).slice(0, -end.length);
  let separator = `],"${segment.list}":[`;
  for await (const { segment: value, version } of segments()) {
    yield separator + JSON.stringify(entryOf(segment.member, version, value, undefined));
    separator = ",";
  }
  yield end;
}

/** The same as an event of a stream, after the fields before its data. */
export const snapshotFrames = (snapshot: Snapshot, fields: string): readonly Buffer[] => {
  const { head, pieces, tail } = render(snapshot);
  return [
    frameOf(`${fields}data: ${head}`),
    ...[...pieces.values()].map(({ frame }) => frame),
    ...tail,
    frameOf(`${end}\n\n`),
  ];
};

export const revisionJson = ({
  revision,
  at,
  kind,
  key,
  version,
  value,
  level,
}: Revision): string =>
  JSON.stringify({ revision, at, key, ...entryOf(kinds[kind].member, version, value, level) });
