// A busy environment next to a quiet one: at full size.
import { testNeighbours } from "./support/test-neighbours.ts";

testNeighbours({
  changes: 200,
  pace: 50,
  replayed: 2_500,
  replays: 23,
  slowReceivers: 100,
  busyFlags: 10,
  rounds: 3,
  maxLag: "500",
  hasLimits: true,
});
