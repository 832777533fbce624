// Parses the text of an event stream, in chunks of any size, into events.

export interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
  /** The last id of the stream, from this event or an earlier one. */
  readonly id: string;
}

export interface EventStreamReader {
  onEvent(event: ServerSentEvent): void;
  /** A comment line: the server's heartbeat. */
  onComment(): void;
  /** The reconnection delay that the server asks for. */
  onRetry(milliseconds: number): void;
}

/** Larger than any environment: protects the memory from a stream that is not Halyard's. */
const maxEventLength = 2 ** 27;

/** Takes the next chunk; throws when an event is too large. */
export const createEventParser = (reader: EventStreamReader): ((text: string) => void) => {
  let partial: string[] = [];
  let partialLength = 0;
  let endedWithReturn = false;
  let data: string[] = [];
  let dataLength = 0;
  let name = "";
  let id = "";

  const dispatch = () => {
    const event = { name: name === "" ? "message" : name, data: data.join("\n"), id };
    const isEvent = data.length > 0;
    data = [];
    dataLength = 0;
    name = "";
    if (isEvent) reader.onEvent(event);
  };

  const takeField = (field: string, value: string) => {
    if (field === "data") {
      data.push(value);
      dataLength += value.length;
    } else if (field === "event") name = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) reader.onRetry(Number(value));
  };

  const takeLine = (line: string) => {
    if (line === "") return dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return reader.onComment();
    if (colon === -1) return takeField(line, "");
    const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    return takeField(line.slice(0, colon), value);
  };

  return (text) => {
    if (text === "") return;
    // A CR and an LF in different chunks are one line end.
    let start = endedWithReturn && text.startsWith("\n") ? 1 : 0;
    const lineEnd = /\r\n|[\r\n]/g;
    lineEnd.lastIndex = start;
    for (let match = lineEnd.exec(text); match !== null; match = lineEnd.exec(text)) {
      const line = partial.join("") + text.slice(start, match.index);
      partial = [];
      partialLength = 0;
      start = lineEnd.lastIndex;
      takeLine(line);
    }
    endedWithReturn = text.endsWith("\r");
    if (start < text.length) {
      partial.push(text.slice(start));
      partialLength += text.length - start;
    }
    if (partialLength + dataLength > maxEventLength) throw new Error("the event is too large");
  };
};
