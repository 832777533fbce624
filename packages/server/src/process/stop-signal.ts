// SIGTERM and SIGINT: the first stops the server gracefully, a later one ends it at once.

/** Milliseconds within which a second signal counts as the first. */
const sameSignal = 500;

/** Resolves with the first signal. A later one ends the process at once. */
export const stopSignal = (): Promise<void> => {
  const { promise: signalled, resolve } = Promise.withResolvers<void>();
  let firstAt: number | undefined;
  const onSignal = () => {
    firstAt ??= performance.now();
    // A terminal and a supervisor may both pass on the same signal.
    if (performance.now() - firstAt > sameSignal) process.exit(1);
    resolve();
  };
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  return signalled;
};
