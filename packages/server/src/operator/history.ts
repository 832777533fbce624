// What whoever holds the secret key can check of a history that they have elsewhere.
import type { IsSigned } from "@halyard/core/history/verify";
import { signedBy } from "../features/history/checkpoints.ts";
import { createSecretCipher } from "../platform/database/secrets/secret-cipher.ts";

/** Whether checkpoints are signed with one of these keys. */
export const checkpointCheck = ([newest, ...older]: readonly Uint8Array[]): IsSigned =>
  signedBy(newest && createSecretCipher([newest, ...older]));
