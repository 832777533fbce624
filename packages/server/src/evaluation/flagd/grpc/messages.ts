// The messages of flagd.sync.v1 in the encoding of Protocol Buffers: all that matters in them are two texts.

/** What a client asks with: SyncFlagsRequest and FetchAllFlagsRequest are the same. */
export interface FlagsRequest {
  /** Field 1. */
  readonly providerId: string;
  /** Field 2. */
  readonly selector: string;
}

const malformed = (): Error => new Error("The request is not a message of flagd.sync.v1.");

/** A number of up to 64 bits as far as it is a safe one, and where it ends. */
const readVarint = (bytes: Uint8Array, begin: number): readonly [value: number, end: number] => {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const byte = bytes[begin + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return [value, begin + index + 1];
  }
  throw malformed();
};

/** Where a field of this wire type ends that begins here. */
const skip = (bytes: Uint8Array, wireType: number, begin: number): number => {
  if (wireType === 0) return readVarint(bytes, begin)[1];
  if (wireType === 1) return begin + 8;
  if (wireType === 5) return begin + 4;
  if (wireType !== 2) throw malformed();
  const [length, start] = readVarint(bytes, begin);
  return start + length;
};

/** Throws when it is none. Fields that are not known are passed over, and of a repeated one the last counts. */
export const decodeRequest = (bytes: Uint8Array): FlagsRequest => {
  const texts = new Map<number, string>();
  for (let at = 0; at < bytes.length; ) {
    const [tag, begin] = readVarint(bytes, at);
    const [field, wireType] = [Math.floor(tag / 8), tag % 8];
    at = skip(bytes, wireType, begin);
    if (field === 0 || at > bytes.length) throw malformed();
    if (wireType !== 2) continue;
    const [, start] = readVarint(bytes, begin);
    texts.set(field, Buffer.from(bytes.subarray(start, at)).toString("utf8"));
  }
  return { providerId: texts.get(1) ?? "", selector: texts.get(2) ?? "" };
};

/** SyncFlagsResponse and FetchAllFlagsResponse are the same: field 1 is the definition. */
export const encodeDefinition = (definition: Uint8Array): Buffer => {
  const head = [0x0a];
  let rest = definition.length;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) head.push((rest % 128) | 0x80);
  head.push(rest);
  return Buffer.concat([Buffer.from(head), definition]);
};
