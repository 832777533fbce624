// How long a client without a sign of life counts as connected.

/** A client whose connection has ended is gone after so long. */
export const disconnectTimeout = 30_000;

/** A client that polls and has asked for nothing for so long is lost. */
export const silentAfter = 150_000;
