// Lines that anyone can cause: the first few of a minute are written, of the others their number.

const minute = 60_000;

export interface CappedLog {
  /** The fields are asked for only when the line is written. */
  warn(fields: () => object): void;
}

export const createCappedLog = (
  log: { warn(fields: object, message: string): void },
  now: () => number,
  [message, others]: readonly [message: string, others: string],
  /** Lines a minute: enough to see who it is, too few to fill a disk. `always` are fields of every line. */
  { mostLines = 10, always = {} }: { mostLines?: number; always?: object } = {},
): CappedLog => {
  let endsAt = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;

  const sum = (): void => {
    clearTimeout(timer);
    const more = count - mostLines;
    count = 0;
    endsAt = 0;
    if (more > 0) log.warn({ ...always, more }, others);
  };

  return {
    warn(fields) {
      if (now() >= endsAt) {
        sum();
        endsAt = now() + minute;
      }
      count += 1;
      // The number of the others comes also when there are none any more.
      if (count === mostLines + 1) timer = setTimeout(sum, endsAt - now()).unref();
      if (count <= mostLines) log.warn({ ...always, ...fields() }, message);
    },
  };
};
