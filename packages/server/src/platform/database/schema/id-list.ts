// Lists of ids for `in (...)`: few different lengths, so that few different statements are prepared.

/** The ids, with the last one repeated up to the next power of two. */
export const idList = <T>(ids: readonly T[]): T[] => {
  const last = ids.at(-1);
  if (last === undefined) return [];
  const length = 2 ** Math.ceil(Math.log2(ids.length));
  return [...ids, ...Array.from({ length: length - ids.length }, () => last)];
};

/** What fits into one statement, of a list of any length. */
export function* batchesOf<T>(rows: readonly T[]): Generator<T[]> {
  const size = 500;
  for (let begin = 0; begin < rows.length; begin += size) yield rows.slice(begin, begin + size);
}
