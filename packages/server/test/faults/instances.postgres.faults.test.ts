// Three instances on one database: at full size.
import { testInstances } from "./support/test-instances.ts";

testInstances({
  calm: 1_000,
  changes: 20_000,
  flags: 200,
  rounds: 20,
  kills: 50,
  terminations: 100,
});
