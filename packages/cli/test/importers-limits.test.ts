// Conditions without an equivalent never give more users access: the rule is left out if that is safe, otherwise the flag.
import assert from "node:assert/strict";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readDocument } from "../src/flags-file/document.ts";
import { convert } from "../src/flags-file/importers/convert.ts";
import { importers } from "../src/flags-file/importers/importers.ts";
import { readFlagsFile } from "../src/flags-file/read-flags-file.ts";
import { convertFile, files, folder } from "./support/import-fixtures.ts";

suite("no user gets access by mistake", () => {
  const flagd = (definition: object) => {
    const flags = { flag: { state: "ENABLED", defaultVariant: "off", ...definition } };
    return convert(importers.flagd({ value: { flags }, environment: undefined }).found, [], {});
  };
  const colours = { red: "r", blue: "b", green: "g" };
  const unreadable = { "==": [{ "%": [{ var: "n" }, 2] }, 0] };
  const isSwiss = { "==": [{ var: "country" }, "CH"] };

  test("an unsupported rule is left out only if its users then get off, or the same value", () => {
    const onOff = { on: true, off: false };
    const kept = flagd({
      variants: onOff,
      targeting: { if: [unreadable, "on", isSwiss, "on", "off"] },
    });
    assert.equal(kept.flags.length, 1);
    assert.match(kept.notes[0]?.note ?? "", /^rule 1 is left out, because it /);
    // Without the rule, excluded users would get access.
    const shut = flagd({
      variants: onOff,
      targeting: { if: [unreadable, "off", isSwiss, "on", "off"] },
    });
    assert.deepEqual(shut.flags, []);
    // Without the rule, users who get blue would get green.
    const other = { variants: colours, defaultVariant: "red" };
    const mixed = flagd({
      ...other,
      targeting: { if: [unreadable, "blue", isSwiss, "green", "red"] },
    });
    assert.deepEqual(mixed.flags, []);
    const same = flagd({
      ...other,
      targeting: { if: [unreadable, "green", isSwiss, "green", "red"] },
    });
    assert.equal(same.flags.length, 1);
  });

  test("a flag that requires another one to be off is not imported if rules of that one are left out", () => {
    const strategy = (featureName: string, constraints: object[] = []) => ({
      featureName,
      name: "default",
      parameters: {},
      constraints,
    });
    const value = {
      features: [{ name: "parent" }, { name: "child" }],
      featureStrategies: [
        strategy("parent", [{ contextName: "email", operator: "REGEX", value: "^a" }]),
        strategy("parent", [{ contextName: "plan", operator: "IN", values: ["pro"] }]),
        strategy("child"),
      ],
      featureEnvironments: ["parent", "child"].map((featureName) => ({
        featureName,
        enabled: true,
      })),
      dependencies: [{ feature: "child", dependencies: [{ feature: "parent", enabled: false }] }],
    };
    const { found } = importers.unleash({ value, environment: undefined });
    const { flags, leftOut } = convert(found, [], {});
    assert.deepEqual(
      flags.map(({ key }) => key),
      ["parent"],
    );
    assert.match(leftOut[0]?.reasons.join() ?? "", /requires parent to be off/);
  });
});

test("a long list of users becomes a segment", () => {
  const keys = Array.from({ length: 1_001 }, (_, index) => `user-${index}`);
  const value = {
    features: [{ name: "testers" }],
    featureStrategies: [
      { featureName: "testers", name: "userWithId", parameters: { userIds: keys.join(",") } },
    ],
    featureEnvironments: [{ featureName: "testers", enabled: true }],
  };
  const { found, segments = [] } = importers.unleash({ value, environment: undefined });
  const { flags } = convert(found, segments, {});
  assert.deepEqual(segments, [
    { key: "testers-users", description: null, include: keys, exclude: [], when: null },
  ]);
  assert.deepEqual(flags[0]?.rules, [
    { id: "rule-1", when: { segment: ["testers-users"] }, serve: "on" },
  ]);
});

test("a file is recognized if the product is not specified", async () => {
  for (const [file, from] of Object.values(files)) {
    const document = await readDocument(join(folder, file));
    await assert.rejects(readFlagsFile(document), ({ message }: Error) =>
      message.endsWith(`it looks like an export of ${from}: add --from ${from}.`),
    );
  }
});

test("invalid names", async () => {
  const value = {
    flags: {
      colour: {
        state: "ENABLED",
        variants: { "dark red": "#800", "dark-red": "#900" },
        defaultVariant: "dark red",
        targeting: {
          fractional: [
            ["dark red", 25],
            ["dark-red", 75],
          ],
        },
      },
    },
  };
  const { found } = importers.flagd({ value, environment: undefined });
  assert.match(
    convert(found, [], {}).leftOut[0]?.reasons.join() ?? "",
    /names that are not allowed in Halyard \(dark red\)/,
  );
  const { flags, notes } = convert(found, [], { renameInvalid: true });
  assert.deepEqual(flags, [
    {
      key: "colour",
      type: "variant",
      enabled: true,
      valueType: "string",
      variants: { "dark-red-2": "#800", "dark-red": "#900" },
      off: "dark-red-2",
      otherwise: [
        { variant: "dark-red-2", share: 25 },
        { variant: "dark-red", share: 75 },
      ],
      description: null,
    },
  ]);
  assert.deepEqual(notes, [
    { key: "colour", note: 'its variant "dark red" is now "dark-red-2"' },
    { key: "colour", note: "exact only if targetingKey is present" },
  ]);
});

test("--lossy imports the rest turned off, with their variants", async () => {
  const { flags, createOnly, leftOut } = await convertFile("go-feature-flag", { lossy: true });
  const hidden = flags.find(({ key }) => key === "colour-hidden");
  assert.deepEqual(hidden, {
    key: "colour-hidden",
    type: "variant",
    enabled: false,
    valueType: "string",
    variants: { red: "#f00", blue: "#00f", green: "#0f0" },
    off: "red",
    otherwise: "red",
    description: null,
  });
  assert.ok(createOnly.has("colour-hidden"));
  assert.deepEqual(leftOut, []);
});
