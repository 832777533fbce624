// Everything below /api/v1.
import type { FastifyInstance } from "fastify";
import type { Sessions } from "../../access/sessions.ts";
import type { ApiKeys } from "../../management/api-keys.ts";
import type { ChangeRequests } from "../../management/change-requests/change-requests.ts";
import type { Deliveries } from "../../management/deliveries.ts";
import type { Environments } from "../../management/environments.ts";
import type { FlagReads } from "../../management/flag-reads.ts";
import type { Flags } from "../../management/flags.ts";
import type { History } from "../../management/history/history.ts";
import type { Verification } from "../../management/history/verification.ts";
import type { Explain } from "../../management/past/explain.ts";
import type { Previews } from "../../management/preview/previews.ts";
import type { Replays } from "../../management/replays.ts";
import type { Segments } from "../../management/segments.ts";
import type { Users } from "../../management/users.ts";
import type { Webhooks } from "../../management/webhooks.ts";
import { FlagSchemas, WebhookSchema } from "../openapi/schemas.ts";
import { SegmentSchema, SegmentSummary } from "../openapi/segment-schemas.ts";
import { linkedAccountRoutes } from "./access/linked-accounts.ts";
import { personalKeyRoutes } from "./access/personal-keys.ts";
import { userRoutes } from "./access/users.ts";
import { changeRequestRoutes } from "./change-requests/routes.ts";
import { RequestSchema } from "./change-requests/schemas.ts";
import { type ClientDependencies, clientRoutes } from "./clients.ts";
import { environmentRoutes } from "./environments.ts";
import { changeRoutes } from "./flags/changes.ts";
import { explainRoutes } from "./flags/explain.ts";
import { flagReadRoutes } from "./flags/flag-reads.ts";
import { flagRoutes } from "./flags/flags.ts";
import { previewRoutes } from "./flags/preview.ts";
import { PreviewSchema } from "./flags/preview-schema.ts";
import { segmentRoutes } from "./flags/segments.ts";
import { eventRoutes } from "./history/events.ts";
import { historyExportRoutes } from "./history/export.ts";
import { historyRoutes } from "./history/history.ts";
import { keyRoutes } from "./keys.ts";
import { type ReportDependencies, reportUsageRoute } from "./report-usage.ts";
import { type SnapshotDependencies, snapshotRoutes } from "./snapshot.ts";
import { type StreamDependencies, streamRoutes } from "./stream.ts";
import { usageRoutes } from "./usage.ts";
import { usageErrorRoutes } from "./usage-errors.ts";
import { deliveryRoutes } from "./webhooks/deliveries.ts";
import { DeliverySchema } from "./webhooks/delivery-schema.ts";
import { replayRoutes } from "./webhooks/replay.ts";
import { replayRangeRoutes } from "./webhooks/replay-range.ts";
import { webhookRoutes } from "./webhooks/webhooks.ts";

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
