// The wish to stop: SIGTERM or SIGINT, by whatever way and however often it comes.

const sameWish = 500;

/** Comes back with the first signal. Another one, later, ends the process at once. */
export const stopSignal = (): Promise<void> => {
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = () => {
    firstAt ??= performance.now();
    // A terminal or a supervisor may send the same signal by two ways: that is one wish, not two.
    if (performance.now() - firstAt > sameWish) process.exit(1);
    resolve();
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  return signalled;
};
