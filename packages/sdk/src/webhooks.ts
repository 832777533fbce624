// The entry point "@halyard/sdk/webhooks": verification of received requests and the types of their events.
export type {
  ChangeRequestEvent,
  FlagCreatedEvent,
  FlagDeletedEvent,
  FlagDisabledEvent,
  FlagEnabledEvent,
  FlagUpdatedEvent,
  SegmentCreatedEvent,
  SegmentDeletedEvent,
  SegmentUpdatedEvent,
  WebhookEvent,
  WebhookTestEvent,
} from "./management/webhook-event.ts";
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from "./webhooks/verify-webhook.ts";
