// The three values of a condition: true, false and unknown. Only true matches.

/** Ordered so that `all` is the minimum, `any` the maximum and `not` the reflection (Kleene's logic). */
export const isFalse = 0;
export const isUnknown = 1;
export const isTrue = 2;

export type Truth = typeof isFalse | typeof isUnknown | typeof isTrue;

export const truthOf = (holds: boolean): Truth => (holds ? isTrue : isFalse);

export const opposite = (truth: Truth): Truth => (isTrue - truth) as Truth;
