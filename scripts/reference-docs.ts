// npm run docs: writes docs/reference/commands.md from the help of the commands, and endpoints.md from the OpenAPI document.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProgram } from "../packages/cli/src/program.ts";
import { startTestServer } from "../packages/server/test/support/server.ts";

type Row = readonly string[];
type Command = Awaited<ReturnType<typeof createProgram>>;
type Option = Command["options"][number];

/** A Markdown table with aligned columns. */
const tableOf = (header: Row, rows: readonly Row[]): string => {
  const cells = [header, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = header.map((_, column) =>
    Math.max(...cells.map((row) => row[column]?.length ?? 0)),
  );
  const lineOf = (row: Row): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [first = [], ...rest] = cells;
  return [first, widths.map((width) => "-".repeat(width)), ...rest].map(lineOf).join("\n");
};

const code = (text: string): string => `\`${text}\``;
const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

interface Described {
  readonly usage: string;
  readonly command: Command;
}

const commandsBelow = (command: Command, path: string): Described[] =>
  command.commands
    .filter((child) => child.name() !== "suggest")
    .flatMap((child) => {
      const words = `${path} ${child.name()}`;
      const values = child.registeredArguments.map((argument) => {
        const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
        return argument.required ? `<${name}>` : `[${name}]`;
      });
      const isGroup = child.commands.length > 0 && child.options.length === 0;
      const own = isGroup ? [] : [{ usage: [words, ...values].join(" "), command: child }];
      return [...own, ...commandsBelow(child, words)];
    });

const optionRow = ({ flags, description, argChoices, defaultValue }: Option): Row => {
  const choices = argChoices === undefined ? "" : `: ${argChoices.map(code).join(", ")}`;
  const given = typeof defaultValue === "string" || typeof defaultValue === "number";
  return [code(flags), `${description}${choices}${given ? `; default ${defaultValue}` : ""}`];
};

const commandsPage = (program: Command): string => {
  const groups = Map.groupBy(program.commands, (command) => command.helpGroup());
  const all = commandsBelow(program, program.name());
  const uses = Map.groupBy(
    all.flatMap(({ command }) => command.options),
    ({ flags }) => flags,
  );
  const isShared = ({ flags }: Option): boolean => (uses.get(flags)?.length ?? 0) >= 10;
  const shared = [...uses.values()].flatMap(([option]) =>
    option !== undefined && isShared(option) ? [optionRow(option)] : [],
  );
  const partOf = ({ usage, command }: Described): string => {
    const own = command.options.filter((option) => !isShared(option)).map(optionRow);
    const others = command.options.filter(isShared).map(({ long, flags }) => code(long ?? flags));
    return [
      `### ${code(usage)}`,
      sentence(command.description()),
      ...(own.length === 0 ? [] : [tableOf(["option", "does"], own)]),
      ...(others.length === 0 ? [] : [`Shared options: ${others.join(", ")}.`]),
    ].join("\n\n");
  };
  return [
    "# All commands",
    "<!-- Written by npm run docs. Edit the help of the commands instead. -->",
    "[The command-line reference](cli.md) explains how to choose a server, and shows the commands in use.",
    "## Shared options",
    tableOf(["option", "does"], shared),
    ...[...groups].flatMap(([title, commands]) => {
      const names = commands.map((command) => `halyard ${command.name()} `);
      const parts = all.filter(({ usage }) => names.some((name) => `${usage} `.startsWith(name)));
      return parts.length === 0 ? [] : [`## ${title.replace(":", "")}`, ...parts.map(partOf)];
    }),
  ].join("\n\n");
};

interface OpenApi {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly "x-role"?: string;
}

const endpointsPage = ({ tags, paths }: OpenApi): string => {
  const order = tags.map(({ name }) => name);
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const { summary, responses, "x-role": role } = operation;
      const good = Object.keys(responses).filter((status) => Number(status) < 400);
      const endpoint = code(`${method.toUpperCase()} ${path}`);
      const row = [endpoint, role === undefined ? "none" : code(role), good.join(" "), summary];
      return { tag: operation.tags[0] ?? "Others", row };
    }),
  );
  const inOrder = rows.toSorted((a, b) => order.indexOf(a.tag) - order.indexOf(b.tag));
  return [
    "# All endpoints",
    "<!-- Written by npm run docs. Edit the OpenAPI description instead. -->",
    "[The API reference](interface.md) explains them. A running server describes every parameter and field at `/docs`, and in `/openapi.json`.",
    ...[...Map.groupBy(inOrder, ({ tag }) => tag)].flatMap(([tag, those]) => [
      `## ${tag}`,
      tableOf(
        ["endpoint", "minimum role", "success", "does"],
        those.map(({ row }) => row),
      ),
    ]),
  ].join("\n\n");
};

/** The text of each generated page, by its path. */
export const referencePages = async (): Promise<Readonly<Record<string, string>>> => {
  const server = await startTestServer();
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as OpenApi;
  await server.close();
  return {
    "docs/reference/commands.md": `${commandsPage(await createProgram())}\n`,
    "docs/reference/endpoints.md": `${endpointsPage(document)}\n`,
  };
};

if (import.meta.main) {
  for (const [path, text] of Object.entries(await referencePages())) {
    writeFileSync(join(import.meta.dirname, "..", path), text);
  }
}
