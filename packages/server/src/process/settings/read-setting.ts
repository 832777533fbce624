// Parsers of structured settings, each of which returns undefined for a value that it cannot parse; and how mistakes are told.

import { environmentNamePattern } from "../../features/environments/rules.ts";
import { isBootstrapKey } from "../../features/keys/rules.ts";
import { parseAllowedPlace } from "../../features/webhooks/callback-address.ts";
import { InvalidSettings } from "../../platform/errors.ts";

export interface BootstrapKey {
  readonly environment: string;
  readonly text: string;
}

/** All of them parsed, or undefined when one cannot be. */
export const all = <T>(
  texts: readonly string[],
  read: (text: string) => T | undefined,
): T[] | undefined => {
  const values = texts.map(read).filter((value): value is Awaited<T> & T => value !== undefined);
  return values.length === texts.length ? values : undefined;
};

export const readBootstrapKeys = (text: string): readonly BootstrapKey[] | undefined => {
  // A comma is part of a key unless an environment name and = follow it.
  const keys = all(text.split(/,\s*(?=[a-z0-9-]+=)/), (entry) => {
    const [, environment = "", key = ""] = /^([^=]*)=(.*)$/.exec(entry.trim()) ?? [];
    const isName = new RegExp(environmentNamePattern).test(environment);
    return isName && isBootstrapKey(key) ? { environment, text: key } : undefined;
  });
  const distinct = (values: readonly string[]) => new Set(values).size === values.length;
  return keys &&
    distinct(keys.map(({ environment }) => environment)) &&
    distinct(keys.map((key) => key.text))
    ? keys
    : undefined;
};

export const readSecretKey = (entry: string): Uint8Array | undefined => {
  const text = entry.trim();
  const bytes = /^[0-9a-f]{64}$/i.test(text)
    ? Buffer.from(text, "hex")
    : Buffer.from(text, "base64");
  const isText = /^([0-9a-f]{64}|[A-Za-z0-9+/_-]{43}=?)$/i.test(text);
  return isText && bytes.length === 32 ? bytes : undefined;
};

export const readPublicUrl = (text: string): string | undefined => {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  const { username, password, search, hash, origin, pathname } = url;
  return username + password + search + hash === ""
    ? origin + pathname.replace(/\/+$/, "")
    : undefined;
};

export const readSwitch = (text: string): boolean | undefined =>
  text === "on" || text === "off" ? text === "on" : undefined;

export const readTrustProxy = (text: string): boolean | string | undefined => {
  if (text === "true" || text === "false") return text === "true";
  return text.split(",").every((place) => parseAllowedPlace(place.trim())?.kind === "network")
    ? text
    : undefined;
};

/** Throws one error that tells all of them. */
export const refuseMistakes = (mistakes: readonly string[]): void => {
  if (mistakes.length > 0) {
    throw new InvalidSettings(
      mistakes.length === 1
        ? `A setting is wrong: ${mistakes[0]}`
        : `${mistakes.length} settings are wrong:\n${mistakes.map((mistake) => `  - ${mistake}`).join("\n")}`,
    );
  }
};
