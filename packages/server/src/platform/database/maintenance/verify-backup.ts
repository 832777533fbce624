// Verifies a backup: that it is complete, that every byte is as it was written, who signed it, and that its schema is Halyard's.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fail, notFound, ok, type Result } from "../../errors.ts";
import { readSecretKey, secretKeyFile } from "../secrets/secret-key-file.ts";
import { databaseFile } from "../sqlite/data-folder.ts";
import { checkDatabaseFile } from "./backup.ts";
import { describeFile, differencesIn } from "./backup-folder.ts";
import {
  isManifestSignedBy,
  type Manifest,
  manifestFile,
  parseManifest,
} from "./backup-manifest.ts";
import { findSigner } from "./backup-signature.ts";

/**
 * - `proven`: signed with a key that we have from elsewhere, so nobody without that key has changed it.
 * - `own key`: signed with the key that lies in the backup itself. Whoever can write there can sign there.
 * - `unknown key`: signed with a key that is not here.
 * - `unsigned`: only its own hashes speak for it.
 */
export type Origin = "proven" | "own key" | "unknown key" | "unsigned";

export interface VerifyRequest {
  readonly folder: string;
  /** Secret keys from a setting: when there are any, the backup must be signed with one of them. */
  readonly secretKeys: readonly Uint8Array[];
  /** The data folder whose key file may have signed the backup. */
  readonly data: string;
  /** Accept what cannot be proven: an origin that is unknown, and a schema that is not Halyard's. */
  readonly trust: boolean;
}

export interface VerifiedBackup {
  readonly manifest: Manifest;
  readonly origin: Origin;
  /** What somebody added to the schema, or changed in it, one sentence each. */
  readonly differences: readonly string[];
}

const invalid = (folder: string, what: string): Result<never> =>
  fail({
    code: "VALIDATION_FAILED",
    message: `The backup ${folder} is damaged and was not used: ${what}. Use another backup.`,
  });

export const verifyBackup = async (request: VerifyRequest): Promise<Result<VerifiedBackup>> => {
  const { folder } = request;
  const path = join(folder, manifestFile);
  if (!existsSync(folder)) return notFound("The folder", folder);
  if (!existsSync(path)) {
    return fail({
      code: "NOT_FOUND",
      message: `${folder} is not a complete backup: ${manifestFile}, which is written last, is missing.`,
    });
  }
  const parsed = parseManifest(readFileSync(path, "utf8"), folder);
  if (!parsed.ok) return parsed;
  const manifest = parsed.value;
  for (const expected of manifest.files) {
    if (!existsSync(join(folder, expected.name))) {
      return invalid(folder, `the file ${expected.name} is missing`);
    }
    const found = await describeFile(folder, expected.name);
    if (!isDeepStrictEqual(found, expected)) {
      return invalid(folder, `the file ${expected.name} has changed since the backup`);
    }
  }
  const origin = originOf(manifest, request);
  if (origin === "forged") {
    return invalid(folder, "its signature does not match, so somebody has changed it");
  }
  const { schemaVersion, environments, rows } = manifest;
  const database = join(folder, databaseFile);
  const contents = checkDatabaseFile(database);
  if (typeof contents === "string") return invalid(folder, contents);
  if (!isDeepStrictEqual(contents, { schemaVersion, environments, rows })) {
    return invalid(folder, "the database does not match the manifest");
  }
  const differences = (await differencesIn(database, schemaVersion)) ?? [];
  return requireTrust(request, { manifest, origin, differences });
};

const originOf = (
  manifest: Manifest,
  { folder, secretKeys, data }: VerifyRequest,
): Origin | "forged" => {
  const { signature } = manifest;
  if (!signature) return "unsigned";
  const inData = keyIn(data);
  const signer = findSigner(signature, [...secretKeys, ...(inData ? [inData] : [])]);
  if (signer) return isManifestSignedBy(manifest, signer) ? "proven" : "forged";
  const own = manifest.secretKey === "included" ? keyIn(folder) : undefined;
  if (!own || secretKeys.length > 0 || !findSigner(signature, [own])) return "unknown key";
  return isManifestSignedBy(manifest, own) ? "own key" : "forged";
};

/** Undefined also for a file that holds no key: others say so. */
const keyIn = (folder: string): Uint8Array | undefined => {
  try {
    return readSecretKey(join(folder, secretKeyFile));
  } catch {
    return undefined;
  }
};

const requireTrust = (
  { folder, trust }: VerifyRequest,
  verified: VerifiedBackup,
): Result<VerifiedBackup> => {
  const { manifest, origin, differences } = verified;
  if (trust) return ok(verified);
  const wayOut =
    "If you trust the place where it was kept and everybody who can write there, add --trust-backup";
  const refuse = (message: string): Result<never> =>
    fail({ code: "VALIDATION_FAILED", message: `The backup ${folder} ${message}. ${wayOut}.` });
  if (origin === "unsigned") {
    return refuse(
      "is not signed. Its files match its manifest, but somebody who changed both would not be noticed. Halyard 0.1 did not sign backups, and without the secret key of the store none is signed",
    );
  }
  if (origin === "unknown key") {
    return refuse(
      `was signed with a secret key that is not here (${manifest.signature?.keyId}), so nobody can tell whether somebody changed it: set HALYARD_SECRET_KEY to that key, or put its secret.key into the data folder`,
    );
  }
  if (differences.length > 0) {
    return refuse(`has a schema that Halyard does not create: ${differences.join("; ")}`);
  }
  return ok(verified);
};
