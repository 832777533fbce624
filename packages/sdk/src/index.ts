// What programs that use Halyard may import.
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  WebhookVerificationError,
  type WebhookVerificationReason,
} from "./verify-webhook.ts";
export type {
  FlagCreatedEvent,
  FlagDeletedEvent,
  FlagDisabledEvent,
  FlagEnabledEvent,
  FlagUpdatedEvent,
  WebhookEvent,
  WebhookTestEvent,
} from "./webhook-event.ts";
