// A busy environment next to a quiet one: a small run for `npm test`.
import { testNeighbours } from "./support/test-neighbours.ts";

testNeighbours({
  changes: 10,
  pace: 20,
  replayed: 120,
  replays: 3,
  slowReceivers: 70,
  busyFlags: 1,
  rounds: 1,
  maxLag: "60000",
  hasLimits: false,
});
