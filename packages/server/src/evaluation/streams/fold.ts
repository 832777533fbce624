// What comes in quick succession is done as one.

/** Acts at once; calls within so many milliseconds after it are answered together, at their end. */
export const createThrottle = (act: () => void, within: () => number): (() => void) => {
  let isWaiting = false;
  let isAsked = false;
  const call = (): void => {
    if (isWaiting) {
      isAsked = true;
      return;
    }
    isWaiting = true;
    isAsked = false;
    act();
    setTimeout(() => {
      isWaiting = false;
      if (isAsked) call();
    }, within()).unref();
  };
  return call;
};
