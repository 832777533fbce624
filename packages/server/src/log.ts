// The log: one JSON line an entry on standard output. Keys and secrets are taken out wherever they could get in.
import { type Logger, pino } from "pino";

export const createLog = (level: string): Logger =>
  pino({
    level,
    base: null,
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
