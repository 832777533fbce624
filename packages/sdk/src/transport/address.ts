// Where the server is and the key for it, checked once when a client is made.
import type { Fetch } from "./read-event-stream.ts";

export interface Address {
  /** Where the server is, such as `https://flags.example.com`. */
  readonly url: string;
  /** An API key; it decides the environment. */
  readonly key: string;
  /** Instead of the runtime's own. */
  readonly fetch?: Fetch;
}

export interface Server {
  /** Without a slash at its end. */
  readonly base: string;
  readonly authorization: { readonly authorization: string };
  readonly fetch: Fetch;
}

export const serverAt = ({ url, key, fetch }: Address): Server => {
  if (typeof url !== "string" || !/^https?:\/\/[^/?#]+[^?#]*$/.test(url)) {
    throw new TypeError("url must be the address of a Halyard server, such as https://example.com");
  }
  // A line break or a character beyond ASCII would make every single request fail later.
  if (typeof key !== "string" || !/^[\x21-\x7e]+$/.test(key)) {
    throw new TypeError("key must be an API key of the Halyard server");
  }
  return {
    base: url.replace(/\/+$/, ""),
    authorization: { authorization: `Bearer ${key}` },
    // Bound: browsers refuse a fetch that is called as a method of another object.
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
  };
};
