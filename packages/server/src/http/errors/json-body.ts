// Reads a JSON body strictly: what two readers could understand differently is refused.

const maxDepth = 32;

/** The body is not JSON that we accept; the message says why, for the sender. */
export class BadJson extends Error {
  override readonly name = "BadJson";
}

/** JSON is UTF-8; whoever names another charset means something else. */
export const isJsonCharset = (contentType = ""): boolean => {
  const charset = /;\s*charset="?([^";\s]+)/i.exec(contentType)?.[1];
  return charset === undefined || charset.toLowerCase() === "utf-8";
};

const utf8 = new TextDecoder("utf-8", { fatal: true });

export const parseJsonBody = (bytes: Uint8Array): unknown => {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new BadJson("The body is not valid UTF-8.");
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    throw new BadJson(`The body is not valid JSON: ${reason}.`);
  }
  refuseTraps(text);
  return value;
};

/** Walks the text of valid JSON for what JSON.parse lets through. */
const refuseTraps = (text: string): void => {
  /** For each open object the names seen in it, for each open array null. */
  const open: (Set<string> | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case "{":
      case "[":
        open.push(text[at] === "{" ? new Set() : null);
        if (open.length > maxDepth) {
          throw new BadJson(`The body is nested deeper than ${maxDepth} levels.`);
        }
        isName = text[at] === "{";
        break;
      case "}":
      case "]":
        open.pop();
        break;
      case ",":
        isName = open.at(-1) !== null;
        break;
      case ":":
        isName = false;
        break;
      case '"': {
        const end = endOfString(text, at);
        const string = readString(text.slice(at, end + 1));
        if (isName) refuseName(string, open.at(-1) ?? new Set());
        at = end;
        break;
      }
      default:
        break;
    }
  }
};

const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
};

const readString = (raw: string): string => {
  const string = raw.includes("\\") ? (JSON.parse(raw) as string) : raw.slice(1, -1);
  if (!string.isWellFormed() || string.includes("\u0000")) {
    throw new BadJson(
      "The body holds a string that is not text: half a surrogate pair or a NUL character.",
    );
  }
  return string;
};

const refuseName = (name: string, seen: Set<string>): void => {
  if (name === "__proto__") throw new BadJson('The body holds a field named "__proto__".');
  if (seen.has(name)) throw new BadJson(`The body holds the field "${name}" twice.`);
  seen.add(name);
};
