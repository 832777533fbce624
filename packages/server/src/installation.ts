// Where the files are that the server serves or starts. The built package has them elsewhere: scripts/packages/server.ts.
import { fileURLToPath } from "node:url";

/** The built dashboard. */
export const dashboardFolder = fileURLToPath(new URL("../../dashboard/dist", import.meta.url));
/** The files of Swagger UI, which shows the reference. */
export const referenceFolder = fileURLToPath(
  new URL("./static", import.meta.resolve("@fastify/swagger-ui")),
);
/** What a worker process runs. */
export const workerFile = fileURLToPath(new URL("./process/cluster-worker.ts", import.meta.url));
