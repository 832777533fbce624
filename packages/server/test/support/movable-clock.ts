// A clock that runs as the real one does and can be put forward.
export interface MovableClock {
  readonly clock: () => Date;
  forward(milliseconds: number): void;
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

export const movableClock = (): MovableClock => {
  let ahead = 0;
  return {
    clock: () => new Date(Date.now() + ahead),
    forward(milliseconds) {
      ahead += milliseconds;
    },
  };
};
