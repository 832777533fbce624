// The log: one JSON line per entry on standard output, with keys and secrets redacted.
import { type DestinationStream, type Logger, type LoggerOptions, pino } from "pino";

const censor = "[redacted]";

const secretNames = new Set([
  ...["authorization", "cookie", "set-cookie", "x-api-key", "headers"],
  ...["secret", "password", "keyText"],
]);
const secretMember = new RegExp(`"(?:${[...secretNames].join("|")})":|"key":\\{`);

const hide = (name: string, value: unknown): unknown => {
  if (secretNames.has(name)) return censor;
  const isWholeKey = name === "key" && typeof value === "object" && value !== null;
  return isWholeKey && "text" in value ? { ...value, text: censor } : value;
};

/** Without the members that hold a secret by their name. Few lines have one: the others are not read again. */
const withoutSecrets = (line: string): string =>
  secretMember.test(line) ? `${JSON.stringify(JSON.parse(line, hide))}\n` : line;

/** What looks like a secret of ours, or stands where one would, in any line. */
const secretLike: readonly (readonly [RegExp, string])[] = [
  [/(hal_[0-9a-f]{16}_)[\w-]{8,}/g, `$1${censor}`],
  [/(whsec_)[A-Za-z0-9+/=_-]{8,}/g, `$1${censor}`],
  [/\b(Bearer|Basic) +[^\s"\\]+/gi, `$1 ${censor}`],
  [/([?&](?:once|token|key|secret|password)=)[^&\s"\\]+/gi, `$1${censor}`],
  [/(halyard_session=)[^;\s"\\]+/g, `$1${censor}`],
  // Limited in length, or matching a long line would take quadratic time.
  [/(\b[a-z][a-z0-9+.-]{0,15}:\/\/[^\s:/@"\\]*:)[^\s@/"\\]+@/gi, `$1${censor}@`],
];

export interface LogSettings {
  readonly logLevel: string;
  /** Secrets that the operator has chosen: no pattern recognises them. */
  readonly bootstrapKeys?: readonly { readonly text: string }[];
  readonly metricsToken?: string | undefined;
}

/** `base` is part of every line. */
export const createLog = (
  settings: LogSettings,
  base: object | null = null,
  destination: DestinationStream = pino.destination(1),
): Logger => {
  const { logLevel, bootstrapKeys = [], metricsToken } = settings;
  const chosen = [...bootstrapKeys.map(({ text }) => text), metricsToken ?? ""]
    .filter((text) => text !== "")
    // Escaped as in a JSON string.
    .map((text) => JSON.stringify(text).slice(1, -1));
  const clean = (line: string): string => {
    let cleaned = withoutSecrets(line);
    for (const text of chosen) cleaned = cleaned.replaceAll(text, censor);
    for (const [pattern, replacement] of secretLike) {
      cleaned = cleaned.replace(pattern, replacement);
    }
    return cleaned;
  };
  const options: LoggerOptions = {
    level: logLevel,
    base,
    hooks: { streamWrite: clean },
  };
  return pino(options, destination);
};
