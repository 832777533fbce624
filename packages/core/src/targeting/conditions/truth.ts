// The three values of a condition. What nobody knows is neither true nor false, and only true matches.

/** In this order, so that `all` is the least, `any` the greatest and `not` the mirror image (Kleene's logic). */
export const isFalse = 0;
export const isUnknown = 1;
export const isTrue = 2;

export type Truth = typeof isFalse | typeof isUnknown | typeof isTrue;

export const truthOf = (holds: boolean): Truth => (holds ? isTrue : isFalse);

export const opposite = (truth: Truth): Truth => (isTrue - truth) as Truth;
