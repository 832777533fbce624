// Calls the HTTP API as a client would, and holds every answer against /openapi.json.
import assert from "node:assert/strict";
import { type Dispatcher, request } from "undici";
import { type Describing, faultsBy } from "./described.ts";
import { until } from "./until.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined when there is none. */
  readonly body: unknown;
}

export type Api = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Answer>;

interface Operation {
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly headers?: Readonly<Record<string, unknown>>;
        readonly content?: Readonly<Record<string, { readonly schema: object }>>;
      }
    >
  >;
}

export interface OpenApi extends Describing {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, Operation & { "x-role"?: string }>>>
  >;
}

type Check = (method: string, path: string, answer: Answer) => void;
/** From the first server of the process: every other describes the same. */
let check: Promise<Check> | undefined;

const loadCheck = async (url: string): Promise<Check> => {
  // A server that is overloaded, as some tests want it, refuses this too.
  const response = await until("/openapi.json", async () => {
    const answer = await fetch(`${url}/openapi.json`);
    return answer.ok && answer;
  });
  const document = (await response.json()) as OpenApi;
  const faultOf = faultsBy(document);
  const patterns = Object.entries(document.paths).map(
    ([path, operations]) =>
      [
        path,
        new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`),
        operations,
      ] as const,
  );
  return (method, path, answer) => {
    const asked = path.replace(/\?.*$/s, "");
    // A path without parameters comes before one that would match as well.
    const found =
      patterns.find(([each]) => each === asked) ??
      patterns.find(([, pattern]) => pattern.test(asked));
    const operation = found?.[2][method.toLowerCase()];
    if (!found || !operation) return;
    const response = operation.responses[String(answer.status)];
    assert.ok(
      response,
      `${method} ${found[0]} answered ${answer.status}, which /openapi.json does not describe: ${answer.text}`,
    );
    if (!response.content) {
      assert.equal(answer.text, "", `${method} ${found[0]} ${answer.status} has a body`);
      return;
    }
    const type = answer.headers.get("content-type")?.split(";")[0] ?? "";
    // A text, such as lines of JSON.
    if (type !== "application/json" && type in response.content) return;
    const schema = response.content["application/json"]?.schema;
    assert.ok(schema, `no schema for ${method} ${found[0]} ${answer.status}`);
    const fault = faultOf(schema, answer.body);
    assert.ok(
      fault === undefined,
      `${method} ${path} ${answer.status} is not as /openapi.json says: ${fault}\n${answer.text}`,
    );
  };
};

const asText = (body: unknown): string => (typeof body === "string" ? body : JSON.stringify(body));

export const createApi = (url: string, key?: string): Api => {
  const base = `${url}/api/v1`;
  return async (method, path, body, headers = {}) => {
    // Not fetch: with it, files that mostly call take 15% more processor time.
    const response = await request(path.startsWith("//") ? url + path.slice(1) : base + path, {
      method: method as Dispatcher.HttpMethod,
      headers: {
        "user-agent": "halyard-test",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined && {
        body: body instanceof Uint8Array ? Buffer.from(body) : asText(body),
      }),
    });
    const text = await response.body.text();
    const answered = new Headers(
      Object.entries(response.headers).flatMap(([name, value = []]) =>
        [value].flat().map((one): [string, string] => [name, one]),
      ),
    );
    const isJson = answered.get("content-type")?.startsWith("application/json") ?? false;
    const answer: Answer = {
      status: response.statusCode,
      headers: answered,
      text,
      body: text !== "" && isJson ? JSON.parse(text) : undefined,
    };
    check ??= loadCheck(url).catch((error: unknown) => {
      check = undefined;
      throw error;
    });
    (await check)(method, path.startsWith("//") ? path.slice(1) : `/api/v1${path}`, answer);
    return answer;
  };
};
