// halyard webhooks: register receivers of events and show their deliveries.
import { Command } from "commander";
import { addDeliveryCommands } from "./deliveries.ts";
import { addListenCommand } from "./listen.ts";
import { addManageCommands } from "./manage.ts";

export const webhookCommands = (): Command => {
  const group = new Command("webhooks").description("register, test and manage webhooks");
  addManageCommands(group);
  addDeliveryCommands(group);
  addListenCommand(group);
  return group;
};
