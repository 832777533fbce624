// What other packages may use of the server.
export { composeOperator, type Operator } from "./compose/operator.ts";
export { type Config, parseConfig } from "./config/config.ts";
export { environmentNameRule } from "./domain/api-key.ts";
export { type KeyRole, keyRoles } from "./domain/principal.ts";
export { type Failure, type Result, StartupProblem } from "./errors.ts";
export { serveUntilSignal, startServer } from "./main.ts";
export type { Server } from "./process/listening.ts";
export { version } from "./version.ts";
