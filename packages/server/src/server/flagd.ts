// The gRPC server of flagd, for those who want one.
import { readFile } from "node:fs/promises";
import type { FlagdServer, FlagdServerDependencies } from "../evaluation/flagd/grpc/server.ts";
import { StartupProblem } from "../platform/errors.ts";
import type { FlagdSettings } from "../process/settings/flagd-settings.ts";

const read = (setting: string, file: string): Promise<Buffer> =>
  readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new StartupProblem(`${setting}: ${file} cannot be read (${error.code}).`);
  });

/** Its library is loaded only when there is to be a server, to keep the start fast and small. */
export const loadFlagdServer = async (
  settings: FlagdSettings | undefined,
  dependencies: Omit<FlagdServerDependencies, "tls">,
): Promise<FlagdServer | undefined> => {
  if (!settings) return undefined;
  const tls = settings.tls && {
    certificate: await read("HALYARD_FLAGD_TLS_CERT", settings.tls.certificateFile),
    key: await read("HALYARD_FLAGD_TLS_KEY", settings.tls.keyFile),
  };
  const { createFlagdServer } = await import("../evaluation/flagd/grpc/server.ts");
  try {
    return createFlagdServer({ ...dependencies, tls });
  } catch (error) {
    if (!tls) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartupProblem(
      `HALYARD_FLAGD_TLS_CERT and HALYARD_FLAGD_TLS_KEY are no certificate and its key in PEM: ${reason}.`,
    );
  }
};
