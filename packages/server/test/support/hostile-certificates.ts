// Certificates made for one test run: an authority, what it signed rightly, and what is wrong with the others.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Identity {
  readonly key: string;
  readonly cert: string;
}

export interface Certificates {
  /** The file of the authority, for NODE_EXTRA_CA_CERTS. */
  readonly authorityFile: string;
  readonly good: Identity;
  readonly selfSigned: Identity;
  readonly expired: Identity;
  readonly wrongName: Identity;
  readonly unknownAuthority: Identity;
}

export const makeCertificates = (folder: string): Certificates => {
  const openssl = (...args: string[]) =>
    execFileSync("openssl", args, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const read = (name: string): Identity => ({
    key: readFileSync(join(folder, `${name}.key`), "utf8"),
    cert: readFileSync(join(folder, `${name}.pem`), "utf8"),
  });
  const files = (name: string) => ["-keyout", `${name}.key`, "-out", `${name}.pem`];
  const signedBy = (name: string) => ["-CA", `${name}.pem`, "-CAkey", `${name}.key`];
  const make = (name: string, subject: string, days: string, ...more: string[]): void => {
    openssl("req", "-x509", ...newKey, ...files(name), "-days", days, "-subj", subject, ...more);
  };
  const names = "subjectAltName=DNS:localhost,IP:127.0.0.1";

  make("authority", "/CN=Test Authority", "2");
  make("stranger", "/CN=Unknown Authority", "2");
  make("good", "/CN=localhost", "2", ...signedBy("authority"), "-addext", names);
  make("self", "/CN=localhost", "2", "-addext", names);
  make(
    "other",
    "/CN=other.example",
    "2",
    ...signedBy("authority"),
    "-addext",
    "subjectAltName=DNS:other.example",
  );
  make(
    "named",
    "/CN=localhost",
    "2",
    ...signedBy("authority"),
    "-addext",
    "subjectAltName=DNS:localhost",
  );
  make("unknown", "/CN=localhost", "2", ...signedBy("stranger"), "-addext", names);
  openssl(
    ...["req", ...newKey, "-keyout", "expired.key", "-out", "expired.csr"],
    ...["-subj", "/CN=localhost", "-addext", names],
  );
  openssl(
    ...["x509", "-req", "-in", "expired.csr", "-out", "expired.pem", "-days", "-1"],
    ...[...signedBy("authority"), "-CAcreateserial", "-copy_extensions", "copy"],
  );
  return {
    authorityFile: join(folder, "authority.pem"),
    good: read("good"),
    selfSigned: read("self"),
    expired: read("expired"),
    wrongName: read("other"),
    unknownAuthority: read("unknown"),
  };
};
