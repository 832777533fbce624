// halyard webhooks: who is told of changes, and what became of it.
import { Command } from "commander";
import { addDeliveryCommands } from "./deliveries.ts";
import { addListenCommand } from "./listen.ts";
import { addManageCommands } from "./manage.ts";

export const webhookCommands = (): Command => {
  const group = new Command("webhooks").description("register, try out and look after webhooks");
  addManageCommands(group);
  addDeliveryCommands(group);
  addListenCommand(group);
  return group;
};
