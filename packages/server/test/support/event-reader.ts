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
  /** Empty lines that end no event: some readers take them for one. */
  readonly empty: number;
  readonly retry: number | undefined;
  /** The server has ended the stream. */
  readonly ended: boolean;
}

type Growing = { -readonly [K in keyof Omit<EventReader, "events">]: EventReader[K] } & {
  readonly events: StreamEvent[];
};

/** Takes text as it comes, a line at a time; an empty line ends an event. */
const createParser = (): { readonly read: Growing; readonly take: (text: string) => void } => {
  const read: Growing = { events: [], comments: 0, empty: 0, retry: undefined, ended: false };
  let rest = "";
  let fields = new Map<string, string>();
  const dispatch = () => {
    const data = fields.get("data");
    if (data === undefined) {
      read.empty += 1;
      return;
    }
    const event = fields.get("event") ?? "message";
    read.events.push({ id: fields.get("id") ?? "", event, data: JSON.parse(data) });
  };
  const takeLine = (line: string) => {
    if (line === "") {
      dispatch();
      fields = new Map();
    } else if (line.startsWith(":")) read.comments += 1;
    else if (line.startsWith("retry: ")) read.retry = Number(line.slice("retry: ".length));
    else fields.set(line.replace(/:.*$/s, ""), line.replace(/^[^:]*: ?/, ""));
  };
  return {
    read,
    take(text) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) takeLine(line);
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
    get empty() {
      return read.empty;
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
