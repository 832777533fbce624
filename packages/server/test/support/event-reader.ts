// Reads an event stream as a browser does, over fetch or from the bytes of a socket.
import { until } from "./until.ts";

export interface StreamEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** What has come so far. */
export interface EventReader {
  readonly events: readonly StreamEvent[];
  readonly comments: number;
  readonly retry: number | undefined;
  /** The server has ended the stream. */
  readonly ended: boolean;
}

type Growing = { -readonly [K in keyof Omit<EventReader, "events">]: EventReader[K] } & {
  readonly events: StreamEvent[];
};

/** Takes text as it comes; a block ends with an empty line. */
const createParser = (): { readonly read: Growing; readonly take: (text: string) => void } => {
  const read: Growing = { events: [], comments: 0, retry: undefined, ended: false };
  let rest = "";
  const takeBlock = (block: string) => {
    const fields = new Map<string, string>();
    for (const line of block.split("\n")) {
      if (line.startsWith(":")) read.comments += 1;
      else fields.set(line.replace(/:.*$/s, ""), line.replace(/^[^:]*: ?/, ""));
    }
    const retry = fields.get("retry");
    if (retry !== undefined) read.retry = Number(retry);
    const data = fields.get("data");
    if (data === undefined) return;
    const event = fields.get("event") ?? "message";
    read.events.push({ id: fields.get("id") ?? "", event, data: JSON.parse(data) });
  };
  return {
    read,
    take(text) {
      const blocks = (rest + text).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) takeBlock(block);
    },
  };
};

export interface OpenStream extends EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** The events once there are so many. */
  first(count: number): Promise<readonly StreamEvent[]>;
  untilEnded(): Promise<void>;
  close(): void;
}

export const openStream = async (
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> => {
  const leave = new AbortController();
  const response = await fetch(url, {
    headers: { accept: "text/event-stream", ...headers },
    signal: leave.signal,
  });
  const { read, take } = createParser();
  const consume = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) take(decoder.decode(chunk, { stream: true }));
  };
  consume()
    .catch(() => undefined)
    .finally(() => {
      read.ended = true;
    });
  return {
    status: response.status,
    headers: response.headers,
    get events() {
      return read.events;
    },
    get comments() {
      return read.comments;
    },
    get retry() {
      return read.retry;
    },
    get ended() {
      return read.ended;
    },
    async first(count) {
      await until(`event ${count}`, () => read.events.length >= count);
      return read.events;
    },
    async untilEnded() {
      await until("the end of the stream", () => read.ended);
    },
    close: () => leave.abort(),
  };
};

/** Parses the body of an answer that was read from a socket. */
export const parseEvents = (text: string): EventReader => {
  const { read, take } = createParser();
  take(text);
  return read;
};

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
