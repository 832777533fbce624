// Connections only while the page is visible: a browser allows just six to one server without HTTP/2.

/** Ends after the time or with the first of these events. */
const waitFor = (
  events: readonly (readonly [target: EventTarget, name: string])[],
  milliseconds?: number,
): Promise<void> =>
  new Promise((resolve) => {
    const end = new AbortController();
    const finish = () => {
      clearTimeout(timer);
      end.abort();
      resolve();
    };
    const timer = milliseconds === undefined ? undefined : setTimeout(finish, milliseconds);
    for (const [target, name] of events) target.addEventListener(name, finish, end);
  });

/** The pause before a reconnection; ends early when the browser is online again or the page becomes visible. */
export const waitToReconnect = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  waitFor(
    [
      [window, "online"],
      [document, "visibilitychange"],
      [signal, "abort"],
    ],
    milliseconds,
  );

/** At once when it is. */
export const untilVisible = async (signal: AbortSignal): Promise<void> => {
  while (document.hidden && !signal.aborted) {
    await waitFor([
      [document, "visibilitychange"],
      [signal, "abort"],
    ]);
  }
};

const closeAfterHidden = 30_000;

/** Before each connection: waits until the page is visible. The signal aborts once it has been hidden for a while. */
export const connectWhileVisible = (signal: AbortSignal): (() => Promise<AbortSignal>) => {
  let connection = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener(
    "visibilitychange",
    () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(() => connection.abort(), closeAfterHidden);
    },
    { signal },
  );
  return async () => {
    await untilVisible(signal);
    connection = new AbortController();
    return connection.signal;
  };
};
