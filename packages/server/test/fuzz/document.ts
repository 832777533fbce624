// Reads /openapi.json: which operations there are, and whether an answer is one that its operation declares.
import { type Describing, faultsBy } from "../support/described.ts";
import type { Answer } from "./exchange.ts";

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly items?: Schema;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly multipleOf?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Parameter {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly schema: Schema;
}

interface Described {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  /** Such as PATCH /api/v1/flags/{key}. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly role: string | undefined;
  readonly parameters: readonly Parameter[];
  readonly body: Schema | undefined;
  /** What is wrong with an answer to a request of this operation; undefined when nothing is. */
  readonly faultOf: (answer: Answer) => string | undefined;
}

interface Document extends Describing {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly "x-role"?: string;
            readonly parameters?: readonly Parameter[];
            readonly requestBody?: {
              readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
            };
            readonly responses: Readonly<Record<string, Described>>;
          }
        >
      >
    >
  >;
}

/** Sent only when there is something to say. */
const optional = new Set(["link", "idempotency-replayed", "x-halyard-revision"]);
/** Nothing of how the server is made may reach a client. */
const innards = /\\n\s+at |node_modules|node:internal|\.ts\b|SQLITE|sqlite|postgres/;

/** What the flag or segment says is its owner's, times among it. */
const withoutCurrent = (text: string): string => text.replace(/"current":.*/s, "");

export const readDocument = async (url: string): Promise<readonly Operation[]> => {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const describedFault = faultsBy(document);

  const faultFinder = ({ headers = {}, content = {} }: Described): Operation["faultOf"] => {
    const expected = Object.keys(headers)
      .map((name) => name.toLowerCase())
      .filter((name) => !optional.has(name));
    const [type] = Object.keys(content);
    const schema = type === "application/json" ? content[type]?.schema : undefined;
    return (answer) => {
      const missing = expected.find((name) => answer.headers[name] === undefined);
      if (missing !== undefined) return `the header ${missing} is missing`;
      if (answer.headers["x-content-type-options"] !== "nosniff") return "a type may be guessed";
      const given = answer.headers["content-type"]?.replace(/;.*/s, "");
      if (type === undefined) return answer.text === "" ? undefined : "there is a body";
      if (given !== type) return `the body is ${given}, not ${type}`;
      if (!schema) return answer.text === "" ? "there is no body" : undefined;
      if (answer.status >= 400 && innards.test(withoutCurrent(answer.text)))
        return "it tells how it is made";
      let body: unknown;
      try {
        body = JSON.parse(answer.text);
      } catch {
        return "the body is not JSON";
      }
      return describedFault(schema, body);
    };
  };

  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const finders = new Map(
        Object.entries(operation.responses).map(([status, response]) => [
          Number(status),
          faultFinder(response),
        ]),
      );
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        role: operation["x-role"],
        parameters: operation.parameters ?? [],
        body: operation.requestBody?.content["application/json"]?.schema,
        faultOf(answer) {
          if (answer.status >= 500) return "a failure of the server";
          const find = finders.get(answer.status);
          return find ? find(answer) : "a status that is not declared";
        },
      };
    }),
  );
};
