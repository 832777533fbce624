// The parser of event streams: whatever the pieces and line ends, the same events.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { createEventParser } from "../src/transport/server-sent-events.ts";

const parse = (...pieces: readonly string[]): unknown[] => {
  const seen: unknown[] = [];
  const push = createEventParser({
    onEvent: (event) => seen.push(event),
    onComment: () => seen.push("comment"),
    onRetry: (milliseconds) => seen.push(milliseconds),
  });
  for (const piece of pieces) push(piece);
  return seen;
};
const event = (data: string, name = "message", id = "") => ({ name, data, id });

suite("events of a stream", () => {
  const cases: readonly [name: string, text: string, expected: readonly unknown[]][] = [
    ["one", "data: a\n\n", [event("a")]],
    ["name and id", "id: 7\nevent: change\ndata: a\n\n", [event("a", "change", "7")]],
    [
      "an id stays",
      "id: 7\ndata: a\n\ndata: b\n\n",
      [event("a", "message", "7"), event("b", "message", "7")],
    ],
    [
      "an id without data counts for the next",
      "id: 7\n\ndata: b\n\n",
      [event("b", "message", "7")],
    ],
    [
      "an empty id resets",
      "id: 7\ndata: a\n\nid\ndata: b\n\n",
      [event("a", "message", "7"), event("b")],
    ],
    ["an id with NUL is no id", "id: 7\0\ndata: a\n\n", [event("a")]],
    ["a name counts once", "event: x\ndata: a\n\ndata: b\n\n", [event("a", "x"), event("b")]],
    ["a name without data counts for nothing", "event: x\n\ndata: b\n\n", [event("b")]],
    ["several lines of data", "data: a\ndata: b\ndata:\n\n", [event("a\nb\n")]],
    ["only one space is taken away", "data:  a\n\ndata:b\n\n", [event(" a"), event("b")]],
    ["colons in values", "data: a:b: c\n\n", [event("a:b: c")]],
    ["comments", ":\n\n: hello\n\n", ["comment", "comment"]],
    ["retry in digits only", "retry: 2000\nretry: 2e3\nretry: -1\nretry\n\n", [2000]],
    ["unknown fields", "colour: red\nDATA: a\n\n", []],
    ["an event that does not end is none", "data: a\n\ndata: b\n", [event("a")]],
    ["empty data is an event", "data\n\n", [event("")]],
  ];
  for (const [name, text, expected] of cases) {
    test(name, () => {
      for (const end of ["\n", "\r\n"]) {
        const written = text.replaceAll("\n", end);
        assert.deepEqual(parse(written), expected, JSON.stringify(end));
        assert.deepEqual(
          parse(...written.split("")),
          expected,
          `${JSON.stringify(end)}, one by one`,
        );
      }
    });
  }

  test("the same events from any pieces", () => {
    const line = fc.constantFrom(
      "data: a",
      "data: ü🚀",
      "id: 1",
      "event: x",
      ": c",
      "",
      "retry: 5",
    );
    const end = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, end), { maxLength: 30 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (lines, places) => {
          const text = lines.flat().join("");
          const cuts = [0, ...places.toSorted((one, other) => one - other), text.length];
          const pieces = cuts.map((cut, index) => text.slice(cuts[index - 1] ?? 0, cut));
          assert.deepEqual(parse(...pieces), parse(text));
        },
      ),
    );
  });

  test("an empty piece between a CR and its LF changes nothing", () => {
    assert.deepEqual(parse("data: a\r", "", "\n"), []);
  });
});
