// What other packages may use of the server.

export { environmentNameRule } from "./features/environments/rules.ts";
export { serveUntilSignal, startServer } from "./main.ts";
export { composeOperator, type Operator } from "./operator/operator.ts";
export { type KeyRole, keyRoles } from "./platform/auth/principal.ts";
export { type Failure, type Result, StartupProblem } from "./platform/errors.ts";
export type { Server } from "./process/listening.ts";
export { type Config, parseConfig } from "./process/settings/config.ts";
export { version } from "./version.ts";
