// The server's URL and API key, validated once when a client is created.
import type { Fetch } from "./exchange.ts";

export interface Address {
  /** The server's URL, such as `https://flags.example.com`. */
  readonly url: string;
  /** An API key; it decides the environment. */
  readonly key: string;
  /** Replaces the runtime's `fetch`. */
  readonly fetch?: Fetch;
}

export interface Server {
  /** The URL without a trailing slash. */
  readonly base: string;
  readonly authorization: { readonly authorization: string };
  readonly fetch: Fetch;
}

export const serverAt = ({ url, key, fetch }: Address): Server => {
  // fetch rejects a URL with a password, and its message would repeat the password.
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(url)) {
    throw new TypeError("url must be the URL of a Halyard server, without a password");
  }
  // A line break or a non-ASCII character would make every request fail later.
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError("key must be an API key");
  }
  return {
    base: `${url}`.replace(/\/+$/, ""),
    authorization: { authorization: `Bearer ${key}` },
    // Wrapped: browsers reject a fetch that is called as a method of another object.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
};
