// A clock that runs as the real one does, and can be put forward and stopped.
export interface MovableClock {
  readonly clock: () => Date;
  forward(milliseconds: number): void;
  /** What is planned for later does not come, however slow the machine is. */
  stop(): void;
  /** Goes on at the time that it is by then. */
  go(): void;
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export const movableClock = (): MovableClock => {
  let ahead = 0;
  let stoppedAt: number | undefined;
  return {
    clock: () => new Date((stoppedAt ?? Date.now()) + ahead),
    forward(milliseconds) {
      ahead += milliseconds;
    },
    stop() {
      stoppedAt = Date.now();
    },
    go() {
      stoppedAt = undefined;
    },
  };
};
