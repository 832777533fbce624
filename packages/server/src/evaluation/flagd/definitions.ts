// An environment as a flagd definition: compiled in slices when a client needs it, once for each revision, and kept as bytes.
import { createHash } from "node:crypto";
import type { FlagdClass } from "@halyard/core/flagd";
import type { Segment, SegmentState } from "@halyard/core/targeting/segment";
import { createQueue, type RunInSlices } from "../../platform/background/slices.ts";
import { conflict, ok, type Result } from "../../platform/errors.ts";
import type { Snapshot } from "../snapshot.ts";

export interface FlagdDefinition {
  /** JSON. */
  readonly bytes: Buffer;
  /** The same for the same bytes. */
  readonly tag: string;
  /** How many flags are of which class. */
  readonly counts: Readonly<Record<FlagdClass, number>>;
}

export interface FlagdDefinitions {
  /** The definition of the snapshot's revision when it is compiled; a conflict if it would be too large. */
  of(snapshot: Snapshot): Promise<Result<FlagdDefinition>>;
}

type Compiler = typeof import("@halyard/core/flagd");

export const maxDefinitionBytes = 16 * 1_024 * 1_024;
/** Limit of the cache, which keeps the most recently requested definitions. */
const maxKeptBytes = 4 * maxDefinitionBytes;
/** Larger segments are left out, so no more of their members are copied. */
const mostMembers = 101;

const tooLarge = (name: string) =>
  conflict(
    `The flagd definition of the environment "${name}" would have more than 16 MiB; use fewer or smaller rules and variants.`,
  );

const segmentOf = ({ key, description, when, include, exclude }: SegmentState): Segment => ({
  ...{ key, description, when },
  include: [...include.values().take(mostMembers)],
  exclude: [...exclude.values().take(mostMembers)],
});

/** Everything is read at once, so that all of it has the same revision, and compiled in parts. */
const contentOf = (snapshot: Snapshot) => ({
  flags: snapshot.all().map(({ flag, level }) => (level === undefined ? flag : { ...flag, level })),
  segments: snapshot.segments().map(({ state }) => segmentOf(state)),
});

function* make(
  { compileParts }: Compiler,
  content: ReturnType<typeof contentOf>,
  environmentName: string,
): Generator<void, Result<FlagdDefinition>> {
  const counts = { exact: 0, ascii: 0, "left-out": 0 };
  const hash = createHash("sha256");
  const parts: Buffer[] = [];
  let length = 0;
  for (const { report, text } of compileParts(content, environmentName)) {
    if (report) counts[report.class] += 1;
    if (text !== undefined) {
      const part = Buffer.from(text);
      length += part.length;
      if (length > maxDefinitionBytes) return tooLarge(environmentName);
      hash.update(part);
      parts.push(part);
    }
    yield;
  }
  const bytes = Buffer.concat(parts, length);
  return ok({ bytes, tag: hash.digest("hex").slice(0, 32), counts });
}

interface Kept {
  readonly name: string;
  readonly made: Result<FlagdDefinition>;
}

export const createFlagdDefinitions = (runInSlices: RunInSlices): FlagdDefinitions => {
  // Least recently requested first.
  const kept = new Map<number, Kept>();
  const queue = createQueue();
  const bytesOf = ({ made }: Kept): number => (made.ok ? made.value.bytes.length : 0);

  const keep = (id: number, entry: Kept): void => {
    kept.delete(id);
    kept.set(id, entry);
    let bytes = kept.values().reduce((sum, each) => sum + bytesOf(each), 0);
    for (const [oldest, each] of kept) {
      if (bytes <= maxKeptBytes) break;
      bytes -= bytesOf(each);
      kept.delete(oldest);
    }
  };

  const knownOf = ({ environmentId, name }: Snapshot): Kept | undefined => {
    const known = kept.get(environmentId);
    return known?.name === name ? known : undefined;
  };

  return {
    async of(snapshot) {
      const known = knownOf(snapshot);
      if (known) {
        keep(snapshot.environmentId, known);
        return known.made;
      }
      // Loaded on first use, so that a server without flagd clients does not pay for it.
      const compiler = await import("@halyard/core/flagd");
      return queue.run(async () => {
        const { name, environmentId, environmentName } = snapshot;
        const before = kept.get(environmentId);
        if (before?.name === name) return before.made;
        const compiled = await runInSlices(make(compiler, contentOf(snapshot), environmentName));
        // A change doesn't always change the definition. If it doesn't, keep the same bytes; the counts can change.
        const isSame =
          compiled.ok && before?.made.ok && before.made.value.tag === compiled.value.tag;
        const made =
          compiled.ok && before?.made.ok && isSame
            ? ok({ ...compiled.value, bytes: before.made.value.bytes })
            : compiled;
        keep(environmentId, { name, made });
        return made;
      });
    },
  };
};
