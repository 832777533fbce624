// Reads a JSON body strictly: what two readers could understand differently is refused.

const maxDepth = 32;
/** Twice as many as any request needs. */
const maxFields = 10_000;
const longestName = 200;

/** A name that a client has made up, as it stands in a message. */
export const shorten = (name: string): string =>
  name.length > longestName ? `${name.slice(0, longestName).toWellFormed()}…` : name;

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
  // First: what is refused by this is not worth the time that parsing it takes.
  if (holdsTooMuch(text)) throw new BadJson(tooMuch);
  rejectAmbiguousJson(text);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    throw new BadJson(`The body is not valid JSON: ${reason}.`);
  }
};

const [quote, backslash] = [34, 92];
const [braceOpen, braceClose, bracketOpen, bracketClose] = [123, 125, 91, 93];
const [comma, colon] = [44, 58];

export const tooMuch = `The body holds more than ${maxFields} fields, objects and lists.`;

/** Whether it would take far longer to parse than a body of its length usually does. */
export const holdsTooMuch = (text: string): boolean => {
  // Each takes three characters at least, such as {}, in a list.
  if (text.length < 3 * maxFields) return false;
  let count = 0;
  for (let at = 0; at < text.length && count <= maxFields; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at);
    else if (code === braceOpen || code === bracketOpen || code === colon) count += 1;
  }
  return count > maxFields;
};

/** Walks the text for what JSON.parse lets through. Text that is not JSON is left to JSON.parse. */
const rejectAmbiguousJson = (text: string): void => {
  /** For each open object the names seen in it, none yet as undefined; for each open list null. */
  const open: (Set<string> | undefined | null)[] = [];
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      const end = endOfString(text, at);
      if (isName) {
        const seen = open.at(-1) ?? new Set();
        open[open.length - 1] = seen;
        refuseName(readName(text.slice(at, end + 1)), seen);
      } else refuseNoText(text.slice(at, end + 1));
      at = end;
    } else if (code === braceOpen || code === bracketOpen) {
      isName = code === braceOpen;
      open.push(isName ? undefined : null);
      if (open.length > maxDepth) {
        throw new BadJson(`The body is nested deeper than ${maxDepth} levels.`);
      }
    } else if (code === braceClose || code === bracketClose) {
      open.pop();
      isName = false;
    } else if (code === comma) isName = open.length > 0 && open.at(-1) !== null;
    else if (code === colon) isName = false;
  }
};

const endOfString = (text: string, start: number): number => {
  let end = start;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === backslash) before -= 1;
    if ((end - before) % 2 === 1) return end;
  }
};

/** How what is refused below is written, when no other escapes stand before it. */
const mayBeNoText = /\\u(?:0000|d[89a-f])/i;

const refuseNoText = (raw: string): void => {
  if (mayBeNoText.test(raw)) readName(raw);
};

const readName = (raw: string): string => {
  if (!raw.includes("\\")) return raw.slice(1, -1);
  let string: string;
  try {
    string = JSON.parse(raw) as string;
  } catch {
    // Refused by whoever parses the whole.
    return raw;
  }
  if (!string.isWellFormed() || string.includes("\u0000")) {
    throw new BadJson(
      "The body holds a string that is not text: half a surrogate pair or a NUL character.",
    );
  }
  return string;
};

const refuseName = (name: string, seen: Set<string>): void => {
  if (name === "__proto__") throw new BadJson('The body holds a field named "__proto__".');
  if (seen.has(name)) throw new BadJson(`The body holds the field "${shorten(name)}" twice.`);
  seen.add(name);
};
