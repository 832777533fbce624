// Random choices that a seed brings back (the choices, not the interleaving of processes).

export type Random = (below: number) => number;

/** SEED from the environment, or a new one; tests print it. */
export const chooseSeed = (): number =>
  Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Mulberry32: a whole number from 0 up to what is given. */
export const createRandom = (seed: number): Random => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};
