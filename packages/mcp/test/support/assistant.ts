// The official client of MCP, as an assistant uses it: over HTTP, and over the standard input and output of `halyard mcp`.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandFile, environmentOf } from "../../../server/test/support/halyard-process.ts";
import type { TestServer } from "../../../server/test/support/server.ts";

type Data = Readonly<Record<string, unknown>>;

/** What a tool answered. */
export interface Told {
  readonly sentence: string;
  readonly data: Data;
  readonly isError: boolean;
}

export interface Assistant {
  readonly client: Client;
  /** Its answer, which must be no error. */
  use(tool: string, input?: object): Promise<Told>;
  /** The code of the error that it must answer with. */
  refused(tool: string, input?: object): Promise<Told & { readonly code: string }>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** `auto` takes the newest protocol; `legacy` begins with a handshake, as the clients of 2025 do. */
export type Era = "auto" | "legacy";

const assistantOver = async (
  transport: StreamableHTTPClientTransport | StdioClientTransport,
  mode: Era,
): Promise<Assistant> => {
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } });
  await client.connect(transport);
  const call = async (name: string, input: object): Promise<Told> => {
    const result = await client.callTool({ name, arguments: { ...input } });
    const [sentence, json] = result.content.map((part) => (part.type === "text" ? part.text : ""));
    const data = (result.structuredContent ?? {}) as Data;
    if (result.structuredContent) assert.deepEqual(JSON.parse(json ?? ""), data);
    return { sentence: sentence ?? "", data, isError: result.isError === true };
  };
  return {
    client,
    async use(tool, input = {}) {
      const told = await call(tool, input);
      assert.equal(told.isError, false, `${tool}: ${told.sentence} ${JSON.stringify(told.data)}`);
      return told;
    },
    async refused(tool, input = {}) {
      const told = await call(tool, input);
      assert.equal(told.isError, true, `${tool}: ${told.sentence}`);
      const { code = "" } = (told.data.error ?? {}) as { readonly code?: string };
      return { ...told, code };
    },
    async tools() {
      return (await client.listTools()).tools.map(({ name }) => name);
    },
    close: () => client.close(),
  };
};

export const overHttp = (
  { url }: Pick<TestServer, "url">,
  key: string,
  era: Era = "auto",
  headers: Readonly<Record<string, string>> = {},
): Promise<Assistant> =>
  assistantOver(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}`, ...headers } },
    }),
    era,
  );

export const overStdio = (
  { url }: Pick<TestServer, "url">,
  key: string,
  era: Era = "auto",
  ...options: readonly string[]
): Promise<Assistant> => {
  const settings = environmentOf({ HALYARD_URL: url, HALYARD_API_KEY: key });
  const env = Object.entries(settings).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return assistantOver(
    new StdioClientTransport({
      command: process.execPath,
      args: [commandFile, "mcp", ...options],
      env: Object.fromEntries(env),
    }),
    era,
  );
};
