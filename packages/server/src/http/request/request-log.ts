// A log for each request that is only made once something is logged: nearly all requests log nothing.
import type { FastifyBaseLogger } from "fastify";

type Method = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
const methods: readonly Method[] = ["fatal", "error", "warn", "info", "debug", "trace", "silent"];

class RequestLog {
  readonly #log: FastifyBaseLogger;
  readonly #of: Parameters<FastifyBaseLogger["child"]>;
  #made: FastifyBaseLogger | undefined;

  constructor(log: FastifyBaseLogger, of: Parameters<FastifyBaseLogger["child"]>) {
    this.#log = log;
    this.#of = of;
  }

  get made(): FastifyBaseLogger {
    this.#made ??= this.#log.child(...this.#of);
    return this.#made;
  }

  get level(): string {
    return this.#log.level;
  }

  child(...of: Parameters<FastifyBaseLogger["child"]>): FastifyBaseLogger {
    return late(this.made, of);
  }
}

for (const method of methods) {
  Object.defineProperty(RequestLog.prototype, method, {
    value(this: RequestLog, ...args: [unknown]) {
      this.made[method](...args);
    },
  });
}

const late = (
  log: FastifyBaseLogger,
  of: Parameters<FastifyBaseLogger["child"]>,
): FastifyBaseLogger => new RequestLog(log, of) as unknown as FastifyBaseLogger;

/** The same log, whose children and theirs are made late. */
export const withLateChildren = (log: FastifyBaseLogger): FastifyBaseLogger =>
  Object.create(log, {
    child: {
      value: (...of: Parameters<FastifyBaseLogger["child"]>) => late(log, of),
    },
  }) as FastifyBaseLogger;
