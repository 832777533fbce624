// IP addresses and networks. An IPv4-mapped IPv6 address (::ffff:192.0.2.1) counts as IPv4.

export interface Address {
  readonly family: 4 | 6;
  /** One 32-bit group for IPv4, four for IPv6. */
  readonly groups: readonly number[];
}

export interface Network extends Address {
  /** Bit masks of the groups. */
  readonly masks: readonly number[];
}

const isByte = (text: string): boolean => /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= 255;

const parseFour = (text: string): number | undefined => {
  const bytes = text.split(".", 5);
  if (bytes.length !== 4 || !bytes.every(isByte)) return undefined;
  return bytes.reduce((group, byte) => ((group << 8) | Number(byte)) >>> 0, 0);
};

/** The 16-bit parts on one side of `::`. The last part can be an IPv4 address. */
const partsOf = (text: string, isLastSide: boolean): number[] | undefined => {
  if (text === "") return [];
  const parts: number[] = [];
  const written = text.split(":", 9);
  for (const [index, each] of written.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(each)) {
      parts.push(Number.parseInt(each, 16));
      continue;
    }
    const four =
      isLastSide && index === written.length - 1 && each.includes(".")
        ? parseFour(each)
        : undefined;
    if (four === undefined) return undefined;
    parts.push(four >>> 16, four & 0xffff);
  }
  return parts;
};

const sixGroups = (parts: readonly number[]): number[] =>
  [0, 2, 4, 6].map((at) => (((parts[at] ?? 0) << 16) | (parts[at + 1] ?? 0)) >>> 0);

/** Mapped addresses are not converted here, because a network's prefix counts all 128 bits. */
const parseSix = (text: string): number[] | undefined => {
  const sides = text.split("::", 3);
  const [before = "", after] = sides;
  if (sides.length > 2) return undefined;
  const first = partsOf(before, after === undefined);
  const second = after === undefined ? [] : partsOf(after, true);
  if (first === undefined || second === undefined) return undefined;
  const missing = 8 - first.length - second.length;
  if (after === undefined ? missing !== 0 : missing < 1) return undefined;
  return sixGroups([...first, ...Array<number>(missing).fill(0), ...second]);
};

const isMapped = ([first, second, third]: readonly number[]): boolean =>
  first === 0 && second === 0 && third === 0xffff;

/** Undefined if the text is not an address. */
export const parseAddress = (text: string): Address | undefined => {
  const four = parseFour(text);
  if (four !== undefined) return { family: 4, groups: [four] };
  const six = text.includes(":") ? parseSix(text) : undefined;
  if (six === undefined) return undefined;
  return isMapped(six) ? { family: 4, groups: six.slice(3) } : { family: 6, groups: six };
};

const maskOf = (bits: number): number =>
  bits <= 0 ? 0 : bits >= 32 ? 0xffffffff : (0xffffffff << (32 - bits)) >>> 0;

const networkOf = (
  family: Network["family"],
  groups: readonly number[],
  bits: number,
): Network | undefined => {
  const masks = groups.map((_, index) => maskOf(bits - 32 * index));
  const hasHostBits = groups.some((group, index) => (group & ~(masks[index] ?? 0)) !== 0);
  return hasHostBits ? undefined : { family, groups, masks };
};

/** Such as 192.0.2.0/24. Undefined if the text is not a network, or has bits set after the prefix. */
export const parseNetwork = (text: string): Network | undefined => {
  const [address = "", prefix = "", more] = text.split("/", 3);
  if (more !== undefined || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined;
  const bits = Number(prefix);
  const four = parseFour(address);
  if (four !== undefined) return bits <= 32 ? networkOf(4, [four], bits) : undefined;
  const six = address.includes(":") ? parseSix(address) : undefined;
  if (six === undefined || bits > 128) return undefined;
  if (isMapped(six) && bits >= 96) return networkOf(4, six.slice(3), bits - 96);
  return networkOf(6, six, bits);
};

export const isWithin = (address: Address, network: Network): boolean =>
  address.family === network.family &&
  network.groups.every(
    (group, index) => ((address.groups[index] ?? 0) & (network.masks[index] ?? 0)) >>> 0 === group,
  );
