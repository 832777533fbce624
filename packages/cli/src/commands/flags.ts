// halyard flags: see and change the flags of an environment.
import { Command } from "commander";
import { addChangeCommands } from "./flags-change.ts";
import { addMakeCommands } from "./flags-make.ts";
import { addReadCommands } from "./flags-read.ts";

export const flagCommands = (): Command => {
  const group = new Command("flags").description("see and change the flags of an environment");
  addReadCommands(group);
  addMakeCommands(group);
  addChangeCommands(group);
  return group;
};
