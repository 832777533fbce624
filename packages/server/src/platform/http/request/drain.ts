// Ends the HTTP server: what was asked is answered, but nobody is waited for without end.
import type { FastifyInstance } from "fastify";

export interface DrainLog {
  warn(fields: object, message: string): void;
}

/** Takes no more, lets what is under way end, and cuts off what has not ended after so many milliseconds. */
export const drain = async (
  app: FastifyInstance,
  timeout: number,
  log: DrainLog,
): Promise<void> => {
  const impatient = setTimeout(() => {
    app.server.getConnections((_error, connections) => {
      log.warn({ connections }, "requests that did not end were cut off");
      app.server.closeAllConnections();
    });
  }, timeout);
  try {
    await app.close();
  } finally {
    clearTimeout(impatient);
  }
};
