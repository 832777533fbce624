// The jobs of docs/target.md: what each of them creates, and what it says of which people.
import assert from "node:assert/strict";
import type { Api } from "../../packages/server/test/support/api.ts";
import { type Block, blocksIn, blockTitled, read } from "./pages.ts";

export const targetingPage = "docs/target.md";

type Definition = Readonly<Record<string, unknown>> & { readonly key: string };

export interface Job {
  readonly title: string;
  readonly segments: readonly Definition[];
  readonly flags: readonly Definition[];
  /** The flags that the people get a value of. */
  readonly asked: readonly string[];
  readonly people: readonly { readonly context: object; readonly gets: string }[];
  /** Whether the page also has the commands that create all this. */
  readonly hasCommands: boolean;
}

const peopleOf = (text: string): Job["people"] =>
  [...text.matchAll(/^\| `(\{.*?\})` +\| `([^`]+)` +\|/gm)].map(([, context = "", gets = ""]) => ({
    context: JSON.parse(context) as object,
    gets,
  }));

const definitionsIn = (blocks: readonly Block[], title: string): readonly Definition[] =>
  blocks.filter((block) => block.title === title).map(({ text }) => JSON.parse(text) as Definition);

/** Every section that creates a flag. */
export const jobsOf = (): readonly Job[] =>
  read(targetingPage)
    .split(/^#{2,3} /m)
    .slice(1)
    .flatMap((text) => {
      const blocks = blocksIn(text);
      const flags = definitionsIn(blocks, "POST /flags");
      if (flags.length === 0) return [];
      const keys = flags.map(({ key }) => key);
      const [title = ""] = text.split("\n");
      return [
        {
          title,
          segments: definitionsIn(blocks, "POST /segments"),
          flags,
          asked: text.includes("Both flags return:") ? keys : keys.slice(-1),
          people: peopleOf(text),
          hasCommands: blocks.some(({ text: each }) => each.includes("halyard flags create")),
        },
      ];
    });

/** What the commands have made is what the JSON beside them says. */
const assertMade = async (api: Api): Promise<void> => {
  const raised = JSON.parse(blockTitled(targetingPage, "search-ranking otherwise")) as unknown;
  for (const { flags, segments, hasCommands } of jobsOf()) {
    if (!hasCommands) continue;
    for (const segment of segments) {
      const { body } = await api("GET", `/segments/${segment.key}`);
      assert.deepEqual(body, { description: null, exclude: [], when: null, ...segment });
    }
    for (const flag of flags) {
      const { body } = await api("GET", `/flags/${flag.key}`);
      assert.deepEqual(body, {
        ...flag,
        ...(flag.key === "search-ranking" && { otherwise: raised }),
        enabled: true,
        description: null,
      });
    }
  }
};

const listed = 6_000;

/** What a reader of the page has, and what is there when every command has run. */
export const targetingReader = (api: Api, usersUpTo: (length: number) => string) => ({
  files: {
    "users.txt": usersUpTo(1_000),
    "keys.txt": usersUpTo(listed),
    "flag.json": blockTitled(targetingPage, "flag.json"),
  },
  afterwards: async (): Promise<void> => {
    const { body } = await api("GET", "/segments");
    const counts = (body as { key: string; counts: { include: number } }[]).map((each) => [
      each.key,
      each.counts.include,
    ]);
    assert.deepEqual(counts, [
      ["beta-testers", 2],
      ["newsletter", listed],
      ["readers", listed],
    ]);
    await assertMade(api);
  },
});
