// halyard webhooks: the group of commands that register receivers of events and show deliveries.
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
