// Reads a JSON or YAML file, and finds the line of each of its values.
import { readFileSync } from "node:fs";
import { exitCodes } from "../terminal/exit-codes.ts";
import { CommandFailed } from "../terminal/output.ts";

type Path = readonly (string | number)[];

export interface Document {
  /** As specified on the command line. */
  readonly name: string;
  readonly value: unknown;
  /** The line of the value, or of the nearest value that contains it. */
  readonly lineOf: (path: Path) => Promise<number | undefined>;
}

/** The text of a file, or of standard input for `-`. */
export const readText = (file: string): string => {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      throw new CommandFailed(`There is no file ${file}.`, exitCodes.notFound);
    }
    throw new CommandFailed(`${nameOf(file)} cannot be read (${message}).`);
  }
};

const nameOf = (file: string): string => (file === "-" ? "standard input" : file);

/** An error for a file that can't be parsed, with the causes line by line. */
const broken = (name: string, lines: readonly string[]): CommandFailed =>
  new CommandFailed(`${name} is neither JSON nor YAML:\n${lines.join("\n")}`);

export const readDocument = async (file: string): Promise<Document> => {
  const text = readText(file);
  const name = nameOf(file);
  if (text.trim() === "") throw new CommandFailed(`${name} is empty.`);
  let jsonMistake: string;
  try {
    const value: unknown = JSON.parse(text);
    // Lines are needed only for errors, and parsing JSON is many times faster than parsing it as YAML.
    let lines: ReturnType<typeof parseYaml> | undefined;
    return {
      name,
      value,
      async lineOf(path) {
        lines ??= parseYaml(text);
        return (await lines).lineOf(path);
      },
    };
  } catch (error) {
    jsonMistake = (error as Error).message;
  }
  const yaml = await parseYaml(text);
  if (yaml.mistakes.length > 0) {
    throw broken(name, /^\s*[[{]/.test(text) ? [`  ${jsonMistake}`] : yaml.mistakes);
  }
  if (yaml.loops.length > 0) {
    throw new CommandFailed(
      `${name} contains a value that includes itself:\n${yaml.loops.join("\n")}`,
    );
  }
  return { name, value: yaml.value, lineOf: async (path) => yaml.lineOf(path) };
};

/** Further syntax errors are mostly consequences of the first one. */
const maxMistakes = 10;

const parseYaml = async (text: string) => {
  const { isNode, LineCounter, parseAllDocuments, visit } = await import("yaml");
  const lineCounter = new LineCounter();
  const all = [...parseAllDocuments(text, { lineCounter, prettyErrors: false })];
  const mistakes = all
    .flatMap(({ errors }) => errors)
    .slice(0, maxMistakes)
    .map(({ pos, message }) => `  line ${lineCounter.linePos(pos[0]).line}: ${message}`);
  // An alias inside its own anchor is valid YAML, but it can't be part of a flag.
  const loops: string[] = [];
  for (const parsed of all) {
    visit(parsed, {
      Alias(_key, alias, path) {
        const target = alias.resolve(parsed);
        if (!target || !path.includes(target)) return;
        const { line } = lineCounter.linePos(alias.range?.[0] ?? 0);
        loops.push(
          `  line ${line}: *${alias.source} refers to a value that contains it; write the value out`,
        );
      },
    });
  }
  let value: unknown;
  try {
    const values = mistakes.length + loops.length === 0 ? all.map((parsed) => parsed.toJS()) : [];
    // A file with several documents becomes a list.
    value = values.length > 1 ? values : values[0];
  } catch (error) {
    mistakes.push(`  ${(error as Error).message}`);
  }
  const lineOf = (path: Path): number | undefined => {
    const [parsed] = all;
    if (parsed === undefined) return undefined;
    for (let length = path.length; length >= 0; length -= 1) {
      const node = length === 0 ? parsed.contents : parsed.getIn(path.slice(0, length), true);
      if (isNode(node) && node.range) return lineCounter.linePos(node.range[0]).line;
    }
    return undefined;
  };
  return { value, mistakes, loops, lineOf };
};
