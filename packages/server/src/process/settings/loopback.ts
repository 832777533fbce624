// Which hosts are this machine itself.
import { isIP } from "node:net";

export const isLoopbackHost = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
