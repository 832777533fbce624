// Every way to change a webhook from the page: confirmed where it matters, and told what became of it.
import type { Delivery, ManagementError, Webhook } from "@halyard/sdk";
import { useMemo } from "react";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { useApi } from "../session.tsx";
import type { EventChoice } from "./events-picker.tsx";
import { useReadWebhooksAgain } from "./webhook-queries.ts";

export interface WebhookEdits {
  setActive(webhook: Webhook, active: boolean): Promise<void>;
  setEvents(webhook: Webhook, events: readonly EventChoice[]): Promise<ManagementError | undefined>;
  /** True when it is gone. */
  remove(webhook: Webhook): Promise<boolean>;
  /** The delivery of the test, or of an event that is sent again; undefined when it was refused. */
  test(webhook: Webhook): Promise<Delivery | undefined>;
  sendAgain(webhook: Webhook, delivery: Delivery): Promise<Delivery | undefined>;
}

const hostOf = ({ url }: Webhook): string => URL.parse(url)?.host ?? url;

export const useWebhookEdits = (): WebhookEdits => {
  const { management, isProduction, environment } = useApi();
  const ask = useConfirm();
  const readAgain = useReadWebhooksAgain();
  return useMemo(() => {
    const { webhooks } = management;
    const setActive = async (webhook: Webhook, active: boolean): Promise<void> => {
      const result = await webhooks.update(webhook.id, { active });
      readAgain();
      if (!result.ok) {
        notifyError(`${hostOf(webhook)} was not changed`, result.error);
        return;
      }
      notifyDone({
        title: hostOf(webhook),
        message: active
          ? "It is told of changes again. What happened meanwhile can be replayed."
          : "It is paused: nothing is sent to it.",
        ...(!active && { undo: () => void setActive(webhook, true) }),
      });
    };
    return {
      async setActive(webhook, active) {
        const isSure =
          active ||
          !isProduction ||
          (await ask({
            title: `Pause ${hostOf(webhook)} in ${environment.name}?`,
            body: "Events that happen while it is paused are not queued for it. You can replay them afterwards, for 90 days.",
            confirmLabel: "Pause it",
          }));
        if (isSure) await setActive(webhook, active);
      },

      async setEvents(webhook, events) {
        const result = await webhooks.update(webhook.id, { events });
        readAgain();
        if (!result.ok) return result.error;
        notifyDone({ title: hostOf(webhook), message: "The events are chosen anew." });
        return undefined;
      },

      async remove(webhook) {
        const isSure = await ask({
          title: "Delete this webhook?",
          body: `${webhook.url} is told nothing more. What is still waiting for it is dropped, and its delivery log is gone.`,
          confirmLabel: "Delete it",
          danger: true,
          ...(isProduction && { typed: hostOf(webhook) }),
        });
        if (!isSure) return false;
        const result = await webhooks.delete(webhook.id);
        readAgain();
        if (result.ok) notifyDone({ title: hostOf(webhook), message: "The webhook is deleted." });
        else notifyError(`${hostOf(webhook)} was not deleted`, result.error);
        return result.ok;
      },

      async test(webhook) {
        const result = await webhooks.test(webhook.id);
        readAgain();
        if (result.ok) return result.value;
        notifyError("The test was not sent", result.error);
        return undefined;
      },

      async sendAgain(webhook, delivery) {
        const result = await webhooks.replayDelivery(webhook.id, delivery.id);
        readAgain();
        if (!result.ok) {
          notifyError("The event was not sent again", result.error);
          return undefined;
        }
        notifyDone({ title: delivery.event.type, message: "It is sent again." });
        return result.value;
      },
    };
  }, [management, isProduction, environment.name, ask, readAgain]);
};
