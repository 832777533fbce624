// Tells the page that asked for it that somebody has signed in again in another window.

const name = "halyard-signed-in-again";

/** Other origins have no part in the channel, and nothing secret is said. */
export const signedInAgain = (): void => {
  const channel = new BroadcastChannel(name);
  channel.postMessage(null);
  channel.close();
  window.close();
};

export const onSignedInAgain = (listener: () => void): (() => void) => {
  const channel = new BroadcastChannel(name);
  channel.addEventListener("message", listener);
  return () => channel.close();
};
