// What bulk evaluations read of all flags, side by side in memory, where it is read faster than from an object for each flag.
import { PrefixTable } from "@halyard/core/bucket-of-many";
import { type EvaluationContext, isTargetingKey } from "@halyard/core/context";
import { evaluate, splitOff, splitOn } from "@halyard/core/evaluate";
import type { Turn } from "@halyard/core/targeting/turn";
import type { EvaluationFlag, KeptBody, Snapshot } from "../snapshot.ts";
import { bodyOf } from "./answers.ts";

const outcomes = ["on", "off", "error"] as const;

/** The bodies that answer a context, and what they add up to. */
export interface Bodies {
  /** With a comma between them. */
  readonly list: string;
  /** The sums of their digests, each of 32 bits. */
  readonly sums: Int32Array;
  /** How many there are of each outcome: on, off, error. */
  readonly counts: readonly [on: number, off: number, error: number];
}

/** How the result of a flag is found: it is the same for everyone, by the hash alone, or by more than that. */
const [fixed, split, decided] = [0, 1, 2];

/** For callers who are told the same of the same flags. */
class BulkTable {
  readonly #isFull: boolean;
  readonly #flagSetId: string | undefined;
  #flags: EvaluationFlag[] = [];
  #kinds = new Uint8Array();
  #prefixes = new PrefixTable(0);
  #limits = new Float64Array();
  // Two places for each flag, for its bodies when it is on and off or for the only one; the last place is for any other body.
  // Texts begin with a comma.
  #texts: (string | undefined)[] = [];
  #digests = new Int32Array();
  #outcomes = new Uint8Array();

  constructor(isFull: boolean, flagSetId: string | undefined) {
    this.#isFull = isFull;
    this.#flagSetId = flagSetId;
  }

  #resize(flags: number): void {
    const places = 2 * flags + 1;
    this.#flags = new Array<EvaluationFlag>(flags);
    this.#kinds = new Uint8Array(flags);
    this.#prefixes = new PrefixTable(flags);
    this.#limits = new Float64Array(flags);
    this.#texts = new Array<string | undefined>(places).fill(undefined);
    this.#digests = new Int32Array(4 * places);
    this.#outcomes = new Uint8Array(places);
  }

  #setFlag(index: number, entry: EvaluationFlag): void {
    const { prepared } = entry;
    const isSplit = prepared.fixed === undefined && prepared.decide === undefined;
    this.#flags[index] = entry;
    this.#kinds[index] = isSplit ? split : prepared.fixed === undefined ? decided : fixed;
    this.#prefixes.set(index, isSplit ? prepared.prefix : undefined);
    this.#limits[index] = prepared.limit;
    this.#texts.fill(undefined, 2 * index, 2 * index + 2);
  }

  /** An entry is a new object when its flag has changed. */
  follow(all: readonly EvaluationFlag[]): void {
    if (all.length !== this.#flags.length) this.#resize(all.length);
    for (let index = 0; index < all.length; index += 1) {
      const entry = all[index] as EvaluationFlag;
      if (entry !== this.#flags[index]) this.#setFlag(index, entry);
    }
  }

  #put(place: number, body: KeptBody): string {
    // Joined and not added: a text of one piece is copied faster.
    const text = ["", body.text].join(",");
    this.#texts[place] = text;
    this.#digests.set([body.digest0, body.digest1, body.digest2, body.digest3], 4 * place);
    this.#outcomes[place] = outcomes.indexOf(body.outcome);
    return text;
  }

  /** Writes the body that is not there yet. */
  #write(index: number, place: number, context: EvaluationContext, turn: Turn): string {
    const entry = this.#flags[index] as EvaluationFlag;
    const isOther = place === 2 * this.#flags.length;
    const evaluation = isOther
      ? (turn.evaluations.get(entry.flag.key) ?? evaluate(entry.prepared, context, turn))
      : (entry.prepared.fixed ?? (place % 2 === 0 ? splitOn : splitOff));
    return this.#put(place, bodyOf(entry, evaluation, this.#isFull, this.#flagSetId));
  }

  bodiesFor(context: EvaluationContext, turn: Turn): Bodies {
    const kinds = this.#kinds;
    const limits = this.#limits;
    const kept = this.#texts;
    const digests = this.#digests;
    const { targetingKey } = context;
    const hashes = isTargetingKey(targetingKey) ? this.#prefixes.hashesOf(targetingKey) : undefined;
    const other = 2 * kinds.length;
    let list = "";
    const counts: [number, number, number] = [0, 0, 0];
    let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
    for (let index = 0; index < kinds.length; index += 1) {
      let place = 2 * index;
      if (kinds[index] !== fixed) {
        if (kinds[index] === decided || hashes === undefined) place = other;
        else if ((hashes[index] as number) >= (limits[index] as number)) place += 1;
      }
      const known = place === other ? undefined : kept[place];
      list += known ?? this.#write(index, place, context, turn);
      counts[this.#outcomes[place] as 0 | 1 | 2] += 1;
      const at = 4 * place;
      sum0 = (sum0 + (digests[at] as number)) | 0;
      sum1 = (sum1 + (digests[at + 1] as number)) | 0;
      sum2 = (sum2 + (digests[at + 2] as number)) | 0;
      sum3 = (sum3 + (digests[at + 3] as number)) | 0;
    }
    return { list: list.slice(1), sums: Int32Array.of(sum0, sum1, sum2, sum3), counts };
  }
}

const tables = new WeakMap<Snapshot, Map<string, BulkTable>>();

/** The bodies of all flags, in their order. */
export const bodiesOf = (
  snapshot: Snapshot,
  context: EvaluationContext,
  isFull: boolean,
  flagSetId: string | undefined,
  turn: Turn,
): Bodies => {
  const ofSnapshot = tables.getOrInsertComputed(snapshot, () => new Map<string, BulkTable>());
  const name = `${isFull} ${flagSetId}`;
  const table = ofSnapshot.getOrInsertComputed(name, () => new BulkTable(isFull, flagSetId));
  table.follow(snapshot.all());
  return table.bodiesFor(context, turn);
};
