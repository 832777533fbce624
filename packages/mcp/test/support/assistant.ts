// The official MCP client as an assistant uses it: over HTTP, and over standard input and output of `halyard mcp`.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandFile, environmentOf } from "../../../server/test/support/halyard-process.ts";
import type { TestServer } from "../../../server/test/support/server.ts";

type Data = Readonly<Record<string, unknown>>;

/** The result of a tool. */
export interface Told {
  readonly sentence: string;
  readonly data: Data;
  readonly isError: boolean;
}

export interface Assistant {
  readonly client: Client;
  /** The result, which must not be an error. */
  use(tool: string, input?: object): Promise<Told>;
  /** The error code of the result. */
  refused(tool: string, input?: object): Promise<Told & { readonly code: string }>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** `auto` uses the newest protocol; `legacy` starts with a handshake, like clients of 2025. */
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
      const result = await call(tool, input);
      assert.equal(
        result.isError,
        false,
        `${tool}: ${result.sentence} ${JSON.stringify(result.data)}`,
      );
      return result;
    },
    async refused(tool, input = {}) {
      const result = await call(tool, input);
      assert.equal(result.isError, true, `${tool}: ${result.sentence}`);
      const { code = "" } = (result.data.error ?? {}) as { readonly code?: string };
      return { ...result, code };
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
