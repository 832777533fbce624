// What a request logs carries its id, although its log is only made when it is used.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fastify, LogController } from "fastify";
import { pino } from "pino";
import { withLateChildren } from "../src/http/request/request-log.ts";

test("lines of a request name it, in children too, and below the level nothing is written", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "warn" }, { write: (line) => lines.push(JSON.parse(line)) });
  const app = fastify({
    loggerInstance: withLateChildren(log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => "request-1",
  });
  app.get("/", (request, reply) => {
    request.log.error({ err: new Error("broken") }, "failed");
    request.log.child({ part: 1 }).warn("a child");
    request.log.info("too low");
    assert.equal(request.log.level, "warn");
    return reply.send("ok");
  });
  assert.equal((await app.inject("/")).statusCode, 200);
  app.log.warn("of nobody");
  await app.close();
  assert.deepEqual(
    lines.map(({ msg, reqId, part }) => [msg, reqId, part]),
    [
      ["failed", "request-1", undefined],
      ["a child", "request-1", 1],
      ["of nobody", undefined, undefined],
    ],
  );
  assert.match(JSON.stringify(lines[0]?.err), /"message":"broken"/);
});
