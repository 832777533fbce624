// The bytes of a stream on the wire. A frame holds whole chunks of HTTP's chunked encoding, so one copy serves every reader.

export const frameOf = (...parts: readonly (string | Buffer)[]): Buffer => {
  const buffers = parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part));
  const length = buffers.reduce((sum, { length }) => sum + length, 0);
  return Buffer.concat([Buffer.from(`${length.toString(16)}\r\n`), ...buffers, lineEnd]);
};

const lineEnd = Buffer.from("\r\n");

/** What the chunks of a frame carry, for readers that do not know chunks: views of the same bytes, not copies. */
export const contentOf = (frame: Buffer): readonly Buffer[] => {
  const contents: Buffer[] = [];
  for (let at = 0; at < frame.length; ) {
    const begin = frame.indexOf(lineEnd, at) + lineEnd.length;
    const end = begin + Number.parseInt(frame.toString("latin1", at, begin), 16);
    contents.push(frame.subarray(begin, end));
    at = end + lineEnd.length;
  }
  return contents;
};
