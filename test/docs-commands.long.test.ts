// The commands of the pages with the most of them run, and print what the pages show.
import { longPlans } from "./support/documented-commands.ts";
import { testCommands } from "./support/test-commands.ts";

testCommands(longPlans);
