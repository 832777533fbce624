// Everything below /api/v1.
import type { FastifyInstance } from "fastify";
import type { FlagReads } from "../evaluation/flag-reads.ts";
import { type StreamDependencies, streamRoutes } from "../evaluation/streams/stream-routes.ts";
import type { ChangeRequests } from "../features/change-requests/change-requests.ts";
import { changeRequestRoutes } from "../features/change-requests/routes.ts";
import { RequestSchema } from "../features/change-requests/schemas.ts";
import { type ClientDependencies, clientRoutes } from "../features/clients/routes.ts";
import type { Environments } from "../features/environments/environments.ts";
import { environmentRoutes } from "../features/environments/routes.ts";
import { changeRoutes } from "../features/flags/changes-routes.ts";
import type { Explain } from "../features/flags/explain.ts";
import { explainRoutes } from "../features/flags/explain-routes.ts";
import type { Flags } from "../features/flags/flags.ts";
import { flagReadRoutes } from "../features/flags/read-routes.ts";
import { flagRoutes } from "../features/flags/routes.ts";
import { type SnapshotDependencies, snapshotRoutes } from "../features/flags/snapshot-routes.ts";
import { eventRoutes } from "../features/history/events-routes.ts";
import { historyExportRoutes } from "../features/history/export-routes.ts";
import type { History } from "../features/history/history.ts";
import { historyRoutes } from "../features/history/routes.ts";
import type { Verification } from "../features/history/verification.ts";
import type { ApiKeys } from "../features/keys/keys.ts";
import { personalKeyRoutes } from "../features/keys/personal-routes.ts";
import { keyRoutes } from "../features/keys/routes.ts";
import { linkedAccountRoutes } from "../features/people/linked-routes.ts";
import type { Users } from "../features/people/people.ts";
import { userRoutes } from "../features/people/routes.ts";
import type { Previews } from "../features/previews/previews.ts";
import { previewRoutes } from "../features/previews/routes.ts";
import { PreviewSchema } from "../features/previews/schemas.ts";
import { segmentRoutes } from "../features/segments/routes.ts";
import { SegmentSchema, SegmentSummary } from "../features/segments/schemas.ts";
import type { Segments } from "../features/segments/segments.ts";
import { usageErrorRoutes } from "../features/usage/errors-routes.ts";
import { type ReportDependencies, reportUsageRoute } from "../features/usage/report-routes.ts";
import { usageRoutes } from "../features/usage/routes.ts";
import type { Deliveries } from "../features/webhooks/deliveries/deliveries.ts";
import { replayRangeRoutes } from "../features/webhooks/deliveries/replay-range-routes.ts";
import { replayRoutes } from "../features/webhooks/deliveries/replay-routes.ts";
import type { Replays } from "../features/webhooks/deliveries/replays.ts";
import { deliveryRoutes } from "../features/webhooks/deliveries/routes.ts";
import { DeliverySchema } from "../features/webhooks/deliveries/schemas.ts";
import { webhookRoutes } from "../features/webhooks/routes.ts";
import type { Webhooks } from "../features/webhooks/webhooks.ts";
import type { Sessions } from "../platform/auth/sessions.ts";
import { FlagSchemas, WebhookSchema } from "../platform/http/openapi/schemas.ts";

export interface ApiDependencies
  extends StreamDependencies,
    SnapshotDependencies,
    ReportDependencies,
    ClientDependencies {
  readonly flags: Flags;
  readonly segments: Segments;
  readonly changeRequests: ChangeRequests;
  readonly explain: Explain;
  readonly previews: Previews;
  readonly flagReads: FlagReads;
  readonly history: History;
  readonly verification: Verification;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly replays: Replays;
  readonly keys: ApiKeys;
  readonly environments: Environments;
  readonly users: Users;
  /** Undefined when there is no dashboard. */
  readonly sessions: Sessions | undefined;
  /** Where clients reach this server; taken from each request when it is not set. */
  readonly publicUrl: string | undefined;
}

/** What the bodies refer to by name. */
export const apiSchemas = [
  ...FlagSchemas,
  SegmentSchema,
  SegmentSummary,
  WebhookSchema,
  DeliverySchema,
  RequestSchema,
  PreviewSchema,
];

export const apiRoutes = (api: FastifyInstance, dependencies: ApiDependencies): void => {
  flagReadRoutes(api, dependencies.flagReads, dependencies.past);
  flagRoutes(api, dependencies.flags);
  changeRoutes(api, dependencies.flags);
  changeRequestRoutes(api, dependencies.changeRequests);
  explainRoutes(api, dependencies.explain);
  previewRoutes(api, dependencies.previews);
  segmentRoutes(api, dependencies.segments, dependencies.past);
  historyRoutes(api, dependencies.history);
  historyExportRoutes(api, dependencies.verification);
  eventRoutes(api, dependencies.history);
  webhookRoutes(api, dependencies.webhooks);
  deliveryRoutes(api, dependencies.deliveries);
  replayRoutes(api, dependencies.deliveries);
  replayRangeRoutes(api, dependencies.replays);
  keyRoutes(api, dependencies.keys);
  environmentRoutes(api, dependencies);
  personalKeyRoutes(api, dependencies.keys);
  userRoutes(api, dependencies.users, dependencies.publicUrl);
  linkedAccountRoutes(api, dependencies.users);
  streamRoutes(api, dependencies);
  snapshotRoutes(api, dependencies);
  reportUsageRoute(api, dependencies);
  usageRoutes(api, dependencies);
  usageErrorRoutes(api, dependencies);
  clientRoutes(api, dependencies);
};
