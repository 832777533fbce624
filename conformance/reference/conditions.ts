// Conditions and segments once more, written from the documents alone; see evaluate.ts.

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };
export type JsonObject = { readonly [name: string]: Json };
type Truth = true | false | "unknown";

export interface World {
  /** All flags of the environment by key. */
  readonly flags: Readonly<Record<string, JsonObject>>;
  readonly segments: Readonly<Record<string, JsonObject>>;
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const lookUp = (context: JsonObject, attribute: string): Json | undefined => {
  if (!attribute.startsWith("/"))
    return Object.hasOwn(context, attribute) ? context[attribute] : undefined;
  let found: Json | undefined = context;
  for (const part of attribute.slice(1).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) {
      const isIndex =
        name === String(Number(name)) && Number.isInteger(Number(name)) && Number(name) >= 0;
      found = isIndex ? (found as readonly Json[])[Number(name)] : undefined;
    } else if (isObject(found)) found = Object.hasOwn(found, name) ? found[name] : undefined;
    else return undefined;
  }
  return found;
};

const not = (truth: Truth): Truth => (truth === "unknown" ? truth : !truth);
const any = (truths: readonly Truth[]): Truth => {
  if (truths.includes(true)) return true;
  return truths.includes("unknown") ? "unknown" : false;
};
const all = (truths: readonly Truth[]): Truth => not(any(truths.map(not)));

const fold = (text: string): string =>
  Array.from(text)
    .map((letter) => (letter >= "A" && letter <= "Z" ? letter.toLowerCase() : letter))
    .join("");

const isAmong = (value: Json | undefined, values: readonly Json[], ignoreCase: boolean): Truth => {
  if (value === undefined || value === null) return "unknown";
  if (Array.isArray(value))
    return any((value as readonly Json[]).map((each) => isAmongOne(each, values, ignoreCase)));
  return isAmongOne(value, values, ignoreCase);
};
const isAmongOne = (value: Json, values: readonly Json[], ignoreCase: boolean): Truth => {
  if (typeof value !== typeof values[0] || value === null || typeof value === "object")
    return "unknown";
  if (typeof value === "string" && value.length > 1_024) return "unknown";
  if (typeof value === "string" && ignoreCase)
    return values.some((each) => fold(each as string) === fold(value));
  return values.some((each) => each === value);
};

const asNumber = (value: Json | undefined, converts: boolean): number | undefined => {
  if (typeof value === "number") return value;
  if (!converts || typeof value !== "string") return undefined;
  if (!/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(value)) return undefined;
  return Number.isFinite(Number(value)) ? Number(value) : undefined;
};

interface SemVer {
  readonly core: readonly bigint[];
  readonly pre: readonly string[];
}
const semver = (value: Json | undefined): SemVer | undefined => {
  if (typeof value !== "string") return undefined;
  const text = value.startsWith("v") || value.startsWith("V") ? value.slice(1) : value;
  const short = /^(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?$/.exec(text);
  if (short) return { core: [BigInt(short[1] ?? 0), BigInt(short[2] ?? 0), 0n], pre: [] };
  // The expression that semver.org gives.
  const whole =
    /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/.exec(
      text,
    );
  if (!whole) return undefined;
  return { core: whole.slice(1, 4).map(BigInt), pre: whole[4]?.split(".") ?? [] };
};
const order = <T>(one: T, other: T): number => (one < other ? -1 : one > other ? 1 : 0);
const compareSemver = (one: SemVer, other: SemVer): number => {
  for (const index of [0, 1, 2]) {
    const result = order(one.core[index] ?? 0n, other.core[index] ?? 0n);
    if (result !== 0) return result;
  }
  if (one.pre.length === 0 || other.pre.length === 0)
    return order(other.pre.length, one.pre.length);
  for (let index = 0; ; index += 1) {
    const [a, b] = [one.pre[index], other.pre[index]];
    if (a === undefined || b === undefined)
      return order(a === undefined ? 0 : 1, b === undefined ? 0 : 1);
    const [isA, isB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
    const result =
      isA && isB ? order(BigInt(a), BigInt(b)) : isA !== isB ? (isA ? -1 : 1) : order(a, b);
    if (result !== 0) return result;
  }
};

const moment = (value: Json | undefined): number | undefined => {
  if (typeof value !== "string") return undefined;
  const parts = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(
    value,
  );
  if (!parts) return undefined;
  const [, day = "", hour = "", minute = "", second = "", fraction = "", zone = ""] = parts;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day)
    return undefined;
  let offset = 0;
  if (!/^[Zz]$/.test(zone)) {
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4))];
    if (hours > 23 || minutes > 59) return undefined;
    offset = (hours * 60 + minutes) * (zone.startsWith("-") ? -60_000 : 60_000);
  }
  const thousandths = Number(`${fraction.slice(1)}000`.slice(0, 3));
  return (
    midnight +
    ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 +
    thousandths -
    offset
  );
};

/** An address as its family and one large number. */
const address = (
  text: string,
): { readonly bits: 32 | 128; readonly number: bigint } | undefined => {
  const four = (dotted: string): bigint | undefined => {
    const parts = dotted.split(".");
    if (
      parts.length !== 4 ||
      !parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
    ) {
      return undefined;
    }
    return parts.reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  };
  if (!text.includes(":")) {
    const number = four(text);
    return number === undefined ? undefined : { bits: 32, number };
  }
  const ended = text.replace(/[^:]*\.[^:]*$/, (dotted) => {
    const number = four(dotted);
    return number === undefined
      ? "x"
      : `${(number >> 16n).toString(16)}:${(number & 0xffffn).toString(16)}`;
  });
  const halves = ended.split("::");
  if (halves.length > 2) return undefined;
  const [left = [], right = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const isShortened = halves.length === 2;
  if (isShortened ? left.length + right.length > 7 : left.length !== 8) return undefined;
  const groups = [
    ...left,
    ...Array<string>(isShortened ? 8 - left.length - right.length : 0).fill("0"),
    ...right,
  ];
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return undefined;
  const number = groups.reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n);
  return number >> 32n === 0xffffn
    ? { bits: 32, number: number & 0xffff_ffffn }
    : { bits: 128, number };
};
const isInNetwork = (value: string, network: string): Truth => {
  const [base = "", length = ""] = network.split("/");
  const [one, other] = [address(value), address(base)];
  if (!one || !other) return "unknown";
  if (one.bits !== other.bits) return false;
  // A mapped network counts the bits of the whole address.
  const own = base.includes(":") && other.bits === 32 ? Number(length) - 96 : Number(length);
  const rest = BigInt(other.bits - own);
  return one.number >> rest === other.number >> rest;
};

export const holds = (condition: JsonObject, context: JsonObject, world: World): Truth => {
  if (condition.all)
    return all((condition.all as JsonObject[]).map((each) => holds(each, context, world)));
  if (condition.any)
    return any((condition.any as JsonObject[]).map((each) => holds(each, context, world)));
  if (condition.not) return not(holds(condition.not as JsonObject, context, world));
  if (condition.segment) {
    return any(
      (condition.segment as string[]).map((key) =>
        isInSegment(world.segments[key], context, world),
      ),
    );
  }
  const found = lookUp(context, condition.attribute as string);
  const values = (condition.values ?? []) as readonly Json[];
  const { value } = condition;
  const op = condition.op as string;
  if (op === "exists") return (found !== undefined && found !== null) === value;
  if (typeof found === "string" && found.length > 1_024) return "unknown";
  if (Array.isArray(found) && found.length > 1_000) return "unknown";
  if (op === "in") return isAmong(found, values, condition.ignoreCase === true);
  if (op === "notIn") return not(isAmong(found, values, condition.ignoreCase === true));
  if (op === "startsWith" || op === "endsWith" || op === "contains") {
    if (typeof found !== "string") return "unknown";
    const change = condition.ignoreCase === true ? fold : (text: string) => text;
    return values.some((each) => {
      const [whole, part] = [change(found), change(each as string)];
      return op === "startsWith"
        ? whole.startsWith(part)
        : op === "endsWith"
          ? whole.endsWith(part)
          : whole.includes(part);
    });
  }
  if (op === "lt" || op === "lte" || op === "gt" || op === "gte") {
    const number = asNumber(found, condition.as === "number");
    if (number === undefined) return "unknown";
    const limit = value as number;
    return { lt: number < limit, lte: number <= limit, gt: number > limit, gte: number >= limit }[
      op
    ];
  }
  if (op.startsWith("semver")) {
    const [one, other] = [semver(found), semver(value)];
    if (!one || !other) return "unknown";
    const result = compareSemver(one, other);
    return (
      {
        semverEq: result === 0,
        semverLt: result < 0,
        semverLte: result <= 0,
        semverGt: result > 0,
        semverGte: result >= 0,
      }[op] ?? "unknown"
    );
  }
  if (op === "before" || op === "after") {
    const [one, other] = [moment(found), moment(value)];
    if (one === undefined || other === undefined) return "unknown";
    return op === "before" ? one < other : one > other;
  }
  if (op === "inCidr") {
    if (typeof found !== "string" || !address(found)) return "unknown";
    return any(values.map((network) => isInNetwork(found, network as string)));
  }
  return "unknown";
};

const isInSegment = (segment: JsonObject | undefined, context: JsonObject, world: World): Truth => {
  if (!segment) return "unknown";
  const { targetingKey } = context;
  const isListed = (list: Json | undefined): Truth => {
    const keys = list as readonly string[];
    if (keys.length === 0) return false;
    return typeof targetingKey === "string" && targetingKey !== ""
      ? keys.includes(targetingKey)
      : "unknown";
  };
  const when = isObject(segment.when) ? holds(segment.when, context, world) : false;
  return all([not(isListed(segment.exclude)), any([isListed(segment.include), when])]);
};
