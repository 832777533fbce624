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

export const keyOption = () =>
  new Option("--key <key>", "an admin API key; it decides the environment").env("HALYARD_API_KEY");

export type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>;

export const createCall = ({ url, key }: ApiOptions): Call => {
  if (key === undefined || key === "") {
    throw new CommandFailed("an API key is needed: give it with --key or in HALYARD_API_KEY.");
  }
  return async (method, path, body) => {
    let answer: Response;
    try {
      answer = await fetch(`${url.replace(/\/+$/, "")}/api/v1${path}`, {
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
    throw new CommandFailed(`${method} ${path} was answered ${answer.status}: ${messageOf(text)}`);
  };
};

const messageOf = (text: string): string => {
  try {
    return (JSON.parse(text) as { message: string }).message;
  } catch {
    return text.slice(0, 200);
  }
};
