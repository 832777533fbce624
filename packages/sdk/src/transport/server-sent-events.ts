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
  /** The reconnection delay that the server requests. */
  onRetry?(milliseconds: number): void;
}

/** Takes the next chunk. Lines end with LF or CRLF; no server uses the lone CR that the format also allows. */
export const createEventParser = (reader: EventStreamReader): ((text: string) => void) => {
  let partial = "";
  /** Each line of data ends with a line feed. */
  let data = "";
  let name = "";
  let id = "";

  const takeLine = (line: string) => {
    const [field = ""] = line.split(":", 1);
    const value = line.slice(field.length + 1).replace(/^ /, "");
    if (line === "") {
      const event = { name: name || "message", data: data.slice(0, -1), id };
      const isEvent = data !== "";
      data = "";
      name = "";
      if (isEvent) reader.onEvent(event);
    } else if (field === "") reader.onComment();
    else if (field === "data") data += `${value}\n`;
    else if (field === "event") name = value;
    else if (field === "id" && !value.includes("\0")) id = value;
    else if (field === "retry" && /^\d{1,9}$/.test(value)) reader.onRetry?.(Number(value));
  };

  return (text) => {
    // Searches only the chunk for line ends: searching a large event again for each chunk would take quadratic time.
    const [first = "", ...lines] = text.split("\n");
    partial += first;
    for (const line of lines) {
      takeLine(partial.replace(/\r$/, ""));
      partial = line;
    }
  };
};
