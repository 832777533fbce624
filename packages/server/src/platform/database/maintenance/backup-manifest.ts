// The manifest of a backup, manifest.json: its contents, the hashes of the other files, a signature, and a hash of itself.
import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { Check } from "typebox/value";
import { fail, ok, type Result } from "../../errors.ts";
import { isSignedBy, signText } from "./backup-signature.ts";

export const manifestFile = "manifest.json";
/** Incremented when an older Halyard could not read it. */
const format = 1;

const Count = Type.Integer({ minimum: 0 });
const ManifestSchema = Type.Object({
  format: Type.Literal(format),
  halyardVersion: Type.String(),
  schemaVersion: Count,
  takenAt: Type.String({ minLength: 20, maxLength: 30 }),
  /** The key file of webhook secrets: `none` when a setting gives the key. */
  secretKey: Type.Union([Type.Literal("included"), Type.Literal("left out"), Type.Literal("none")]),
  environments: Type.Array(
    Type.Object({ name: Type.String(), flags: Count, revision: Count, sequence: Count }),
  ),
  /** Rows of each table. */
  rows: Type.Record(Type.String(), Count),
  files: Type.Array(
    Type.Object({
      name: Type.String({ pattern: "^[a-z][a-z.]*$" }),
      bytes: Count,
      sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
  ),
  /** Absent in backups of the first versions, and in those that were taken without the secret key. */
  signature: Type.Optional(
    Type.Object({
      keyId: Type.String({ pattern: "^[0-9a-f]{8}$" }),
      hmac: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
  ),
});
export type Manifest = Omit<Static<typeof ManifestSchema>, "format">;
export type BackupFile = Manifest["files"][number];

const render = (content: object): string => `${JSON.stringify(content, null, 2)}\n`;
const hashOf = (content: object): string =>
  createHash("sha256").update(render(content)).digest("hex");

/** What the signature covers: everything else, and with the hashes every byte of the other files. */
const signedText = (manifest: Manifest): string => {
  const { signature: _, ...rest } = manifest;
  return render({ format, ...rest });
};

export const signManifest = (manifest: Manifest, secretKey: Uint8Array): Manifest => ({
  ...manifest,
  signature: signText(signedText(manifest), secretKey),
});

/** False also for a manifest without a signature. */
export const isManifestSignedBy = (manifest: Manifest, secretKey: Uint8Array): boolean =>
  manifest.signature !== undefined &&
  isSignedBy(signedText(manifest), manifest.signature, secretKey);

/** The hash finds accidents also without the secret key. */
export const renderManifest = (manifest: Manifest): string => {
  const content = { format, ...manifest };
  return render({ ...content, sha256: hashOf(content) });
};

/** Rejects a manifest in which any byte has changed. */
export const parseManifest = (text: string, folder: string): Result<Manifest> => {
  const damaged = fail({
    code: "VALIDATION_FAILED",
    message: `${manifestFile} in ${folder} is damaged, so the backup was not used: use another backup.`,
  });
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return damaged;
  }
  if (typeof parsed !== "object" || parsed === null || !("sha256" in parsed)) return damaged;
  const { sha256, ...content } = parsed;
  if (sha256 !== hashOf(content) || render({ ...content, sha256 }) !== text) return damaged;
  if (Check(ManifestSchema, content)) return ok(content);
  return fail({
    code: "VALIDATION_FAILED",
    message: `The backup ${folder} has a format that this version does not know: use the version of Halyard that made it, or a newer one.`,
  });
};
