// Cases of every operator: what it finds, what it does not, what is unknown, and the edges.
import type { Json, JsonObject } from "../reference/conditions.ts";

/** A condition and the values to try it with; `undefined` stands for a missing attribute. */
export interface OperatorGroup {
  readonly name: string;
  readonly condition: JsonObject;
  readonly values: readonly (Json | undefined)[];
}

/** What every operator must cope with. */
const odd: readonly (Json | undefined)[] = [
  undefined,
  null,
  "",
  " ",
  "null",
  "true",
  0,
  1,
  -1,
  1.5,
  true,
  false,
  [],
  [null],
  [[]],
  {},
  { a: 1 },
];

const group = (
  name: string,
  condition: JsonObject,
  values: readonly Json[] = [],
): OperatorGroup => ({
  name,
  condition: { attribute: "a", ...condition },
  values: [...odd, ...values],
});

const compare = (op: string): OperatorGroup[] => [
  group(`${op} 18`, { op, value: 18 }, [17, 17.999, 18, 18.001, 19, "18", [18], 1e308, -1e308]),
  group(`${op} 18 as number`, { op, value: 18, as: "number" }, [
    "18",
    "18.0",
    "17.99999",
    "018",
    "+18",
    "1e3",
    " 18",
    "-0",
    "0",
    ".5",
    "5.",
    "18n",
    "99999999999999999999",
  ]),
  group(`${op} -0.5`, { op, value: -0.5 }, [-0.5, -0.4, -0.6, 0]),
];

const semver = (op: string): OperatorGroup[] => [
  group(`${op} 1.2.3`, { op, value: "1.2.3" }, [
    "1.2.3",
    "v1.2.3",
    "V1.2.3",
    "vv1.2.3",
    "1.2.2",
    "1.2.4",
    "1.10.0",
    "0.99.99",
    "2",
    "1",
    "1.2",
    "1.2.3.4",
    "01.2.3",
    "1.02.3",
    "1.2.3+build",
    "1.2.3+01",
    "1.2.3+",
    "1.2.3-",
    "1.2.3-rc.1",
    "1.2.3-01",
    "1.2-beta",
    "1-beta",
    "1.2.x",
    "99999999999999999999.0.0",
    " 1.2.3",
    "1.2.3 ",
    "１.2.3",
    ["1.2.3"],
  ]),
  group(`${op} 1.0.0-beta.11`, { op, value: "1.0.0-beta.11" }, [
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-beta.11.0",
    "1.0.0-beta.x",
    "1.0.0-rc.1",
    "1.0.0-1",
    "1.0.0-Beta.11",
    "1.0.0",
    "1.0.0-beta.11+x",
    "0.9.9",
  ]),
];

const moments: readonly Json[] = [
  "2026-11-14T12:00:00Z",
  "2026-11-14T12:00:00.000Z",
  "2026-11-14T12:00:00.0001Z",
  "2026-11-14T12:00:00.001Z",
  "2026-11-14T11:59:59.999Z",
  "2026-11-14T13:00:00+01:00",
  "2026-11-14T12:00:00+00:00",
  "2026-11-14T12:00:00-00:00",
  "2026-11-14t12:00:00z",
  "2026-11-14 12:00:00Z",
  "2026-11-14T12:00:00",
  "2026-11-14",
  "2026-11-14T12:00Z",
  "2026-13-01T00:00:00Z",
  "2026-02-29T00:00:00Z",
  "2024-02-29T00:00:00Z",
  "2026-11-14T24:00:00Z",
  "2026-11-14T23:59:60Z",
  "2026-11-14T12:00:00+24:00",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  1_794_657_600_000,
];

const texts = (op: string): OperatorGroup[] => [
  group(`${op} @acme.com`, { op, values: ["@acme.com", "acme"] }, [
    "ann@acme.com",
    "ann@ACME.com",
    "@acme.com",
    "acme",
    "ACME",
    "acme.org",
    "xacmex",
    "ann@acme.com ",
    ["ann@acme.com"],
    "a",
  ]),
  group(`${op} @acme.com, ignoring case`, { op, values: ["@Acme.com"], ignoreCase: true }, [
    "ann@ACME.COM",
    "@acme.com",
    "ann@acme.com.org",
    "@acme.com/x",
    "K@acme.com",
  ]),
  group(`${op}, Unicode`, { op, values: ["ß", "\u{1f680}", "k"], ignoreCase: true }, [
    "ß",
    "SS",
    "ẞ",
    "K",
    "\u212a",
    "x\u{1f680}x",
    "\u{1f680}",
    "Ä",
    "ä",
  ]),
];

/** At the end of what counts: 1,024 characters, and 1,000 elements. */
const [longest, tooLong] = [1_024, 1_025].map((length) => "a".repeat(length));
const [full, tooMany] = [1_000, 1_001].map((length) => Array.from({ length }, () => "b"));
const long = (name: string, condition: JsonObject): OperatorGroup => ({
  name: `${name}, long texts and lists`,
  condition: { attribute: "a", ...condition },
  values: [longest ?? "", tooLong ?? "", full ?? [], tooMany ?? [], ["b", tooLong ?? ""]],
});
const longGroups: readonly OperatorGroup[] = [
  long("exists", { op: "exists", value: true }),
  long("in", { op: "in", values: ["b"] }),
  long("in without case", { op: "in", values: ["B"], ignoreCase: true }),
  long("notIn", { op: "notIn", values: ["c"] }),
  long("startsWith", { op: "startsWith", values: ["a"] }),
  long("endsWith without case", { op: "endsWith", values: ["A"], ignoreCase: true }),
  long("contains", { op: "contains", values: ["aa"] }),
];

export const operatorGroups: readonly OperatorGroup[] = [
  ...longGroups,
  group("exists", { op: "exists", value: true }, ["x", [0]]),
  group("does not exist", { op: "exists", value: false }, ["x", [0]]),
  ...["in", "notIn"].flatMap((op) => [
    group(`${op} texts`, { op, values: ["DE", "AT", "CH"] }, [
      "DE",
      "de",
      "AT",
      " DE",
      ["DE"],
      ["FR"],
      ["FR", "CH"],
      ["FR", 1],
      [1],
      ["DE", 1],
      ["DE", null],
    ]),
    group(`${op} texts, ignoring case`, { op, values: ["de", "İ", "ß"], ignoreCase: true }, [
      "DE",
      "dE",
      "i̇",
      "İ",
      "SS",
      "ß",
      ["DE", "x"],
    ]),
    group(`${op} numbers`, { op, values: [0, 7, 2 ** 53 - 1, 0.1] }, [
      0,
      -0,
      7,
      7.0,
      "7",
      2 ** 53 - 1,
      0.1,
      0.30000000000000004,
      [7],
      [8, 7],
      [8, "7"],
    ]),
    group(`${op} booleans`, { op, values: [true] }, [true, false, "true", [true], [false]]),
    group(
      `${op} many texts`,
      { op, values: Array.from({ length: 200 }, (_, index) => `user-${index}`) },
      ["user-0", "user-199", "user-200", "USER-1"],
    ),
  ]),
  ...["startsWith", "endsWith", "contains"].flatMap(texts),
  ...["lt", "lte", "gt", "gte"].flatMap(compare),
  ...["semverEq", "semverLt", "semverLte", "semverGt", "semverGte"].flatMap(semver),
  ...["before", "after"].map((op) =>
    group(`${op} a moment`, { op, value: "2026-11-14T12:00:00Z" }, moments),
  ),
  group(
    "in IPv4 networks",
    { op: "inCidr", values: ["10.0.0.0/8", "192.168.1.0/24", "203.0.113.7/32"] },
    [
      "10.0.0.0",
      "10.255.255.255",
      "11.0.0.0",
      "9.255.255.255",
      "192.168.1.255",
      "192.168.2.0",
      "203.0.113.7",
      "203.0.113.8",
      "::ffff:10.1.2.3",
      "::ffff:0a01:0203",
      "::10.1.2.3",
      "010.0.0.1",
      "10.0.0",
      "10.0.0.256",
      "10.0.0.1/8",
      "2001:db8::1",
      ["10.0.0.1"],
    ],
  ),
  group("in IPv6 networks", { op: "inCidr", values: ["2001:db8::/32", "::1/128", "fe80::/10"] }, [
    "2001:db8::",
    "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2001:db9::",
    "2001:DB8::1",
    "::1",
    "0:0:0:0:0:0:0:1",
    "::2",
    "fe80::1",
    "febf::1",
    "fec0::1",
    "fe80::1%eth0",
    "2001:db8::1::2",
    "1:2:3:4:5:6:7",
    "10.0.0.1",
    "2001:db8::10.0.0.1",
  ]),
  group("in all of IPv4", { op: "inCidr", values: ["0.0.0.0/0"] }, [
    "1.2.3.4",
    "::ffff:1.2.3.4",
    "::1",
  ]),
];
