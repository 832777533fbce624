// halyard flags: the group of commands that show and change flags.
import { Command } from "commander";
import { addChangeCommands } from "./change.ts";
import { addCreateCommands } from "./create-delete.ts";
import { addEditCommand } from "./edit.ts";
import { addErrorsCommand } from "./errors.ts";
import { addReadCommands } from "./read.ts";
import { addRuleCommands } from "./rules.ts";
import { addSplitCommands } from "./split.ts";

export const flagCommands = (): Command => {
  const group = new Command("flags").description("view and change the flags of an environment");
  addReadCommands(group);
  addErrorsCommand(group);
  addCreateCommands(group);
  addChangeCommands(group);
  addRuleCommands(group);
  addSplitCommands(group);
  addEditCommand(group);
  return group;
};
