// The log: one JSON line an entry on standard output. Keys and secrets are taken out wherever they could get in.
import { type Logger, pino } from "pino";

/** `base` stands in every line. */
export const createLog = (level: string, base: object | null = null): Logger =>
  pino({
    level,
    base,
    redact: {
      paths: [
        "authorization",
        "*.authorization",
        "*['x-api-key']",
        "secret",
        "*.secret",
        "key.text",
        "req.headers",
      ],
      censor: "[redacted]",
    },
  });
