// An environment as a flagd definition: compiled when somebody asks, once for each revision, and kept as bytes.
import type { FlagdClass } from "@halyard/core/flagd";
import { segmentOf } from "@halyard/core/targeting/segment";
import { sha256 } from "../text-hash.ts";
import type { Snapshot } from "./snapshot.ts";

export interface FlagdDefinition {
  /** JSON; the same object until the text is another. */
  readonly bytes: Buffer;
  /** The same for the same bytes. */
  readonly tag: string;
  /** How many flags are of which class. */
  readonly counts: Readonly<Record<FlagdClass, number>>;
}

export interface FlagdDefinitions {
  /** Of the revision that the snapshot has when it is compiled. */
  of(snapshot: Snapshot): Promise<FlagdDefinition>;
}

type Compiler = typeof import("@halyard/core/flagd");

const make = ({ compileFlagd }: Compiler, snapshot: Snapshot): FlagdDefinition => {
  const { flags, text } = compileFlagd(
    {
      flags: snapshot
        .all()
        .map(({ flag, level }) => (level === undefined ? flag : { ...flag, level })),
      segments: snapshot.segments().map(({ state }) => segmentOf(state)),
    },
    snapshot.environmentName,
  );
  const counts = { exact: 0, ascii: 0, "left-out": 0 };
  for (const flag of flags) counts[flag.class] += 1;
  return { bytes: Buffer.from(text), tag: sha256(text).slice(0, 32), counts };
};

export const createFlagdDefinitions = (): FlagdDefinitions => {
  const kept = new WeakMap<Snapshot, { readonly name: string; readonly made: FlagdDefinition }>();
  return {
    async of(snapshot) {
      // Loaded with the first question, so that a server that nobody asks does not pay for it.
      const compiler = await import("@halyard/core/flagd");
      const known = kept.get(snapshot);
      if (known?.name === snapshot.name) return known.made;
      const compiled = make(compiler, snapshot);
      // A change need not change what flagd is told. The counts may change all the same.
      const made =
        known?.made.tag === compiled.tag ? { ...compiled, bytes: known.made.bytes } : compiled;
      kept.set(snapshot, { name: snapshot.name, made });
      return made;
    },
  };
};
