// A uniform sample of distinct items: those with the smallest hashes, limited in number and in bytes.

export interface Sampled {
  /** From 0 to 2^32 - 1. */
  readonly hash: number;
  readonly text: string;
}

/** All items with a hash below the limit, by hash. */
export interface SampledRange {
  readonly limit: number;
  readonly entries: readonly Sampled[];
}

/** Overhead per item: the header of its text, its entries in the map and the heap, and the number itself. */
const entryOverhead = 160;
const wideCharacter = /[^\0-\xff]/;

/** Memory of a text in bytes. V8 uses two bytes per character if any is beyond Latin-1. */
const bytesOf = (text: string): number =>
  entryOverhead + (wideCharacter.test(text) ? 2 : 1) * text.length;

export class SmallestHashes {
  /** Items with this hash or a greater one are not in the sample. The limit only ever decreases. */
  limit = 2 ** 32;
  bytes = 0;
  readonly #maxCount: number;
  readonly #maxBytes: number;
  /** Hashes as signed numbers, which V8 stores without an object. */
  readonly #texts = new Map<number, string>();
  /** A max-heap: the hash at i is at least as great as those at 2i+1 and 2i+2. */
  readonly #heap: number[] = [];

  constructor(maxCount: number, maxBytes: number) {
    this.#maxCount = maxCount;
    this.#maxBytes = maxBytes;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** Whether the item belongs in the sample and is not in it yet. */
  wants(hash: number): boolean {
    return hash < this.limit && !this.#texts.has(hash | 0);
  }

  /** Call only if `wants` returned true. The result does not depend on the order of calls. */
  add(hash: number, text: string): void {
    this.#texts.set(hash | 0, text);
    this.bytes += bytesOf(text);
    this.#rise(hash);
    this.shrinkTo(this.#maxBytes);
  }

  /** Removes the greatest hashes until the rest fits. */
  shrinkTo(maxBytes: number): void {
    while (this.#heap.length > this.#maxCount || this.bytes > maxBytes) {
      const greatest = this.#heap[0];
      if (greatest === undefined) return;
      this.limit = greatest;
      this.bytes -= bytesOf(this.#texts.get(greatest | 0) ?? "");
      this.#texts.delete(greatest | 0);
      this.#sink(this.#heap.pop() as number);
    }
  }

  /** Sorted by hash. */
  range(): SampledRange {
    const entries = Array.from(this.#texts, ([hash, text]) => ({ hash: hash >>> 0, text }));
    return { limit: this.limit, entries: entries.sort((one, other) => one.hash - other.hash) };
  }

  #rise(hash: number): void {
    const heap = this.#heap;
    let at = heap.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as number;
      if (above >= hash) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = hash;
  }

  /** Replaces the greatest hash. */
  #sink(hash: number): void {
    const heap = this.#heap;
    const { length } = heap;
    if (length === 0) return;
    let at = 0;
    for (let child = 1; child < length; child = 2 * at + 1) {
      const right = child + 1;
      const larger =
        right < length && (heap[right] as number) > (heap[child] as number) ? right : child;
      const below = heap[larger] as number;
      if (below <= hash) break;
      heap[at] = below;
      at = larger;
    }
    heap[at] = hash;
  }
}

/** The sample of all samples together, limited to `max` entries. For equal hashes, the last entry wins. */
export const mergeRanges = (ranges: readonly SampledRange[], maxCount: number): SampledRange => {
  const limit = Math.min(...ranges.map((range) => range.limit), 2 ** 32);
  const byHash = new Map<number, Sampled>();
  for (const { entries } of ranges) {
    for (const entry of entries) if (entry.hash < limit) byHash.set(entry.hash, entry);
  }
  const sorted = [...byHash.values()].sort((one, other) => one.hash - other.hash);
  return {
    limit: sorted[maxCount]?.hash ?? limit,
    entries: sorted.slice(0, maxCount),
  };
};
