// Who has a revision, decided from what instances tell: tables of what they may say of the same client, and the bound of a row.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { InstanceEnvironment, KnownClient } from "../src/evaluation/clients/report.ts";
import { maxBodyLength, readBody, writeBody } from "../src/features/clients/instance-body.ts";
import { arrivalOf, type InstanceView } from "../src/features/clients/rules.ts";

const now = 1_000_000;
const known: KnownClient = {
  ...{ id: "shop", keyId: "k", name: "shop", sdk: "js/1", revision: "7-a" },
  ...{ connection: "stream", endedAt: null, closed: false },
  ...{ appliedAt: now - 60, seenAt: now - 60, since: 0 },
};
const environment = (
  clients: readonly Partial<KnownClient>[],
  more: Partial<InstanceEnvironment> = {},
): InstanceEnvironment => ({
  ...{ revision: "7-a", appliedAt: now - 90, notified: 2, unlisted: [] },
  clients: clients.map((client) => ({ ...known, ...client })),
  ...more,
});
const instance = (
  name: string,
  clients: readonly Partial<KnownClient>[],
  more: Partial<InstanceView> = {},
): InstanceView => ({
  ...{ id: name, name, version: "1", startedAt: 0, seenAt: now, isLost: false, hasEnded: false },
  environment: environment(clients),
  ...more,
});
const target = {
  ...{ revision: 7, changedAt: now - 100, now },
  isKnown: (name: string) => /^[1-7]-a$/.test(name),
};
const reportedOnly = { connection: null } as const;
const old = { revision: "6-a", appliedAt: now - 5_000 };

const cases: readonly [
  what: string,
  views: readonly InstanceView[],
  state: string | undefined,
  have: readonly [have: number, of: number],
][] = [
  ["it has told", [instance("a", [{}])], "current", [2, 2]],
  ["it has not", [instance("a", [old])], "behind", [1, 2]],
  ["it told another", [instance("a", [old]), instance("b", [reportedOnly])], "current", [3, 3]],
  [
    "it told a revision of another line",
    [instance("a", [{ revision: "7-z" }]), instance("b", [{ ...reportedOnly, revision: "9-z" }])],
    "behind",
    [2, 3],
  ],
  ["only a report", [instance("a", [reportedOnly])], undefined, [1, 1]],
  ["under another key", [instance("a", [old, { ...reportedOnly, keyId: "o" }])], "behind", [1, 2]],
  ["it has left", [instance("a", [old]), instance("b", [{ closed: true }])], undefined, [2, 2]],
  [
    "its connection has just ended",
    [instance("a", [{ ...old, ...reportedOnly, endedAt: now - 29_000 }])],
    "lost",
    [1, 2],
  ],
  [
    "and a while ago",
    [instance("a", [{ ...reportedOnly, endedAt: now - 30_000 }])],
    undefined,
    [1, 1],
  ],
  ["its instance is lost", [instance("a", [old], { isLost: true })], "lost", [1, 2]],
  [
    "and it is at another",
    [instance("a", [old], { isLost: true }), instance("b", [{}])],
    "current",
    [3, 3],
  ],
  [
    "its instance was stopped",
    [instance("a", [{ ...old, ...reportedOnly, endedAt: now - 9 }], { hasEnded: true })],
    "lost",
    [0, 1],
  ],
  ["and had no time to say so", [instance("a", [old], { hasEnded: true })], "lost", [0, 1]],
  [
    "it was on another line before",
    [instance("a", [{}]), instance("b", [{ ...reportedOnly, revision: "9-z" }])],
    "current",
    [3, 3],
  ],
  ["it polls", [instance("a", [{ connection: "poll", seenAt: now - 149_000 }])], "current", [2, 2]],
  ["no more", [instance("a", [{ connection: "poll", seenAt: now - 150_000 }])], "lost", [2, 2]],
];

test("a client is where its connection is, and has what it told anywhere", () => {
  for (const [what, views, state, [have, of]] of cases) {
    const arrival = arrivalOf(views, target);
    assert.equal(arrival.clients[0]?.state, state, what);
    assert.deepEqual([arrival.reached.have, arrival.reached.of], [have, of], what);
    assert.equal(arrival.reached.within !== null, have === of && of > 0, what);
  }
  const arrival = arrivalOf(
    [instance("a", [{}, { id: "late", since: now, appliedAt: now }])],
    target,
  );
  assert.equal(arrival.reached.within, 40, "who came after the change does not count");

  const others = [
    instance("lost", [], { isLost: true }),
    instance("behind", [], { environment: environment([], { revision: "6-a" }) }),
    instance("ended", [], { hasEnded: true }),
  ];
  const mixed = arrivalOf([instance("a", [{}, { id: "late", ...old }]), ...others], target);
  assert.equal(mixed.told, 2, "by an instance that is there and has it");
  assert.equal(mixed.clients[0]?.id, "late", "who lags comes first");
  assert.deepEqual(
    mixed.instances.map(({ name }) => name),
    ["lost", "behind", "a"],
  );
});

test("what an instance publishes is bounded: beyond that the number is told, by revision, those that lag in full", () => {
  const many = Array.from({ length: 12_000 }, (_, index) => ({
    ...{ id: `program-${index}`, name: "é".repeat(64) },
    ...(index < 10 && old),
  }));
  const gone = Array.from({ length: 10 }, (_, index) => ({ id: `gone-${index}`, ...reportedOnly }));
  const all = environment([...many, ...gone]);
  const report = { hasEnded: false, environments: new Map([[1, all]]) };
  const body = writeBody(report);
  assert.ok(body.length < maxBodyLength + 10_000);
  const read = readBody(body, 1).environment;
  assert.ok(read);
  assert.equal(read.clients.filter(({ revision }) => revision === "6-a").length, 10);
  assert.deepEqual(read.clients[0], { ...known, ...many[0] });
  const arrival = arrivalOf([{ ...instance("a", []), environment: read }], target);
  assert.deepEqual([arrival.reached.have, arrival.reached.of], [11_991, 12_001]);
  assert.deepEqual([arrival.clients.length, arrival.clientsLeftOut], [1_000, 11_000]);
  assert.deepEqual(readBody("from another version", 1), {
    hasEnded: false,
    environment: undefined,
  });
});

test("an environment with many clients leaves the others their share of the bound", () => {
  const many = Array.from({ length: 20_000 }, (_, index) => ({ id: `program-${index}` }));
  const few = Array.from({ length: 1_000 }, (_, index) => ({ id: `shop-${index}` }));
  const body = writeBody({
    hasEnded: false,
    environments: new Map([
      [1, environment(many)],
      [2, environment(few)],
      [3, environment(many)],
    ]),
  });
  assert.ok(body.length < maxBodyLength + 10_000);
  const listed = [1, 2, 3].map((id) => readBody(body, id).environment?.clients.length ?? 0);
  assert.equal(listed[1], 1_000);
  assert.ok(Math.abs((listed[0] ?? 0) - (listed[2] ?? 0)) <= 1, listed.join());
  const left = [1, 3].map((id) => readBody(body, id).environment?.unlisted[0]?.count);
  assert.deepEqual(left, [20_000 - (listed[0] ?? 0), 20_000 - (listed[2] ?? 0)]);
});
