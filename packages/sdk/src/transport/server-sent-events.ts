// Text of an event stream -> its events, whatever the pieces in which it arrives.

export interface ServerSentEvent {
  readonly name: string;
  readonly data: string;
  /** The last id that the stream gave, with this event or before it. */
  readonly id: string;
}

export interface EventStreamReader {
  onEvent(event: ServerSentEvent): void;
  /** A line that says only that the server is there. */
  onComment(): void;
  /** How many milliseconds the server would have clients wait before they come again. */
  onRetry(milliseconds: number): void;
}

/** More than any environment needs; a stream that goes on beyond it is not one of ours. */
const maxEventLength = 2 ** 27;

/** Takes the next piece of the text; throws when an event is larger than any can be. */
export const createEventParser = (reader: EventStreamReader): ((text: string) => void) => {
  let begun: string[] = [];
  let begunLength = 0;
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
    // CR and LF that arrive apart are still one end of a line.
    let start = endedWithReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") endedWithReturn = false;
    const lineEnd = /\r\n|[\r\n]/g;
    lineEnd.lastIndex = start;
    for (let match = lineEnd.exec(text); match !== null; match = lineEnd.exec(text)) {
      const line = begun.join("") + text.slice(start, match.index);
      begun = [];
      begunLength = 0;
      start = lineEnd.lastIndex;
      takeLine(line);
    }
    endedWithReturn = text.endsWith("\r");
    if (start < text.length) {
      begun.push(text.slice(start));
      begunLength += text.length - start;
    }
    if (begunLength + dataLength > maxEventLength) throw new Error("an event without end");
  };
};
