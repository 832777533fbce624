// The settings of the gRPC server of flagd.
import { type SettingReader, whole } from "./setting-reader.ts";

export interface FlagdSettings {
  readonly port: number;
  /** Undefined for connections that are not encrypted. */
  readonly tls: { readonly certificateFile: string; readonly keyFile: string } | undefined;
}

/** Undefined when there is to be no such server. */
export const readFlagdSettings = (
  { setting }: SettingReader,
  httpPort: number,
  mistakes: string[],
): FlagdSettings | undefined => {
  const file = (name: string) => setting(name, "", "the path of a file", (text) => text);
  const port = setting<number | undefined>(
    "HALYARD_FLAGD_PORT",
    undefined,
    "a whole number from 0 to 65535",
    whole(0, 65_535),
  );
  const certificateFile = file("HALYARD_FLAGD_TLS_CERT");
  const keyFile = file("HALYARD_FLAGD_TLS_KEY");
  if ((certificateFile === "") !== (keyFile === "")) {
    mistakes.push("HALYARD_FLAGD_TLS_CERT and HALYARD_FLAGD_TLS_KEY must be set together.");
  }
  if (port === undefined) return undefined;
  if (port !== 0 && port === httpPort) {
    mistakes.push("HALYARD_FLAGD_PORT must be another port than PORT.");
  }
  return { port, tls: certificateFile === "" ? undefined : { certificateFile, keyFile } };
};
