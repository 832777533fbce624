// Every way to change a webhook from the page, with confirmations and notifications.
import type { Delivery, ManagementError, Webhook, WebhookPatch } from "@halyard/sdk/management";
import { useMemo } from "react";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { useRefetchWebhooks } from "./webhook-queries.ts";

export interface WebhookEdits {
  setActive(webhook: Webhook, active: boolean): Promise<void>;
  update(webhook: Webhook, patch: WebhookPatch): Promise<ManagementError | undefined>;
  /** True when it was deleted. */
  remove(webhook: Webhook): Promise<boolean>;
  /** The delivery of the test or of the replayed event; undefined when it was refused. */
  test(webhook: Webhook): Promise<Delivery | undefined>;
  replay(webhook: Webhook, delivery: Delivery): Promise<Delivery | undefined>;
  stopReplay(webhook: Webhook): Promise<void>;
  /** Makes due what waits for a retry, and once more what was given up. */
  retryAll(webhook: Webhook): Promise<void>;
}

const hostOf = ({ url }: Webhook): string => URL.parse(url)?.host ?? url;

export const useWebhookEdits = (): WebhookEdits => {
  const { management, isProduction, environment } = useApi();
  const ask = useConfirm();
  const refetch = useRefetchWebhooks();
  return useMemo(() => {
    const { webhooks } = management;
    const setActive = async (webhook: Webhook, active: boolean): Promise<void> => {
      const result = await webhooks.update(webhook.id, { active });
      refetch();
      if (!result.ok) {
        notifyError(`${hostOf(webhook)} was not changed`, result.error);
        return;
      }
      notifyDone({
        title: hostOf(webhook),
        message: active
          ? "Resumed. You can replay the events of the pause."
          : "Paused: no events are sent.",
        ...(!active && { undo: () => void setActive(webhook, true) }),
      });
    };
    return {
      async setActive(webhook, active) {
        const confirmed =
          active ||
          !isProduction ||
          (await ask({
            title: `Pause ${hostOf(webhook)} in ${environment.name}?`,
            body: "Events are not queued for a paused webhook. You can replay them for 90 days.",
            confirmLabel: "Pause webhook",
          }));
        if (confirmed) await setActive(webhook, active);
      },

      async update(webhook, patch) {
        const result = await webhooks.update(webhook.id, patch);
        refetch();
        if (!result.ok) return result.error;
        notifyDone({ title: hostOf(webhook), message: "Events updated." });
        return undefined;
      },

      async remove(webhook) {
        const confirmed = await ask({
          title: "Delete this webhook?",
          body: `${webhook.url} gets no more events. Its pending deliveries and its delivery log are deleted.`,
          confirmLabel: "Delete webhook",
          danger: true,
          ...(isProduction && { typed: hostOf(webhook) }),
        });
        if (!confirmed) return false;
        const result = await webhooks.delete(webhook.id);
        refetch();
        if (result.ok) notifyDone({ title: hostOf(webhook), message: "Webhook deleted." });
        else notifyError(`${hostOf(webhook)} was not deleted`, result.error);
        return result.ok;
      },

      async test(webhook) {
        const result = await webhooks.test(webhook.id);
        refetch();
        if (result.ok) return result.value;
        notifyError("The test was not sent", result.error);
        return undefined;
      },

      async replay(webhook, delivery) {
        const result = await webhooks.replayDelivery(webhook.id, delivery.id);
        refetch();
        if (!result.ok) {
          notifyError("The event was not replayed", result.error);
          return undefined;
        }
        notifyDone({ title: delivery.event.type, message: "Queued for replay." });
        return result.value;
      },

      async stopReplay(webhook) {
        const result = await webhooks.stopReplay(webhook.id);
        refetch();
        if (!result.ok) notifyError("The replay was not stopped", result.error);
      },

      async retryAll(webhook) {
        let retried = 0;
        for (;;) {
          const result = await webhooks.retry(webhook.id);
          refetch();
          if (!result.ok) {
            notifyError("The deliveries were not retried", result.error);
            return;
          }
          retried += result.value.retried;
          if (result.value.complete) break;
        }
        notifyDone({
          title: hostOf(webhook),
          message: `Due now: all that wait for a retry${retried === 0 ? "" : `, and ${formatNumber(retried)} that had failed`}. A receiver that fails gets one request at a time; when it accepts one, the rest follows.`,
        });
      },
    };
  }, [management, isProduction, environment.name, ask, refetch]);
};
