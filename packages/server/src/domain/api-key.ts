// API keys as stored: everything but the secret, of which only a hash exists.
import type { Role } from "./principal.ts";

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: Date;
  /** About to the minute; null when it was never used. */
  readonly lastUsedAt: Date | null;
}

export const maxKeyNameLength = 100;
/** Valid keys of an environment; so many revoked ones are remembered beside them. */
export const maxKeys = 500;

export const environmentNamePattern = "^[a-z0-9][a-z0-9-]{0,62}$";
export const environmentNameRule =
  "1 to 63 characters, small letters, digits or hyphens, beginning with a letter or a digit";

/** `hal_<id>_<secret>`: the id names the key for people and logs, the secret of 256 random bits authenticates it. */
export const keyText = (id: string, secret: Uint8Array): string =>
  `hal_${id}_${secret.toBase64({ alphabet: "base64url", omitPadding: true })}`;

export const isBootstrapKey = (text: string): boolean => /^[\x21-\x7e]{20,200}$/.test(text);
