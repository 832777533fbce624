// Calls a running server over its HTTP API, with an API key.
import { Option } from "commander";
import { CommandFailed } from "./output.ts";

export interface ApiOptions {
  readonly url: string;
  readonly key?: string;
}

export const urlOption = () =>
  new Option("--url <address>", "where the server is")
    .env("HALYARD_URL")
    .default("http://127.0.0.1:4400");

export const keyOption = (role: "an admin" | "a server" | "any" = "an admin") =>
  new Option("--key <key>", `${role} API key; it decides the environment`).env("HALYARD_API_KEY");

/** The path is the management API's, unless it begins with /ofrep/. */
export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/** The server answered, but not with what was asked for. */
export class Refused extends CommandFailed {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export const createCall = ({ url, key }: ApiOptions): Call => {
  if (key === undefined || key === "") {
    throw new CommandFailed("an API key is needed: give it with --key or in HALYARD_API_KEY.");
  }
  return async (method, path, body) => {
    let answer: Response;
    try {
      const prefix = path.startsWith("/ofrep/") ? "" : "/api/v1";
      answer = await fetch(`${url.replace(/\/+$/, "")}${prefix}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { "content-type": "application/json" }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch {
      throw new CommandFailed(`no server answers at ${url}: start it, or name another with --url.`);
    }
    const text = await answer.text();
    if (answer.ok) return (text === "" ? undefined : JSON.parse(text)) as never;
    throw new Refused(
      answer.status,
      `${method} ${path} was answered ${answer.status}: ${messageOf(text)}`,
    );
  };
};

const messageOf = (text: string): string => {
  try {
    const body = JSON.parse(text) as { message?: string; errorDetails?: string };
    return body.message ?? body.errorDetails ?? text.slice(0, 200);
  } catch {
    return text.slice(0, 200);
  }
};
