// Receivers that do everything wrong, each with what the delivery log must say of it.
import { gzipSync } from "node:zlib";
import type { Certificates } from "./hostile-certificates.ts";
import {
  afterRequest,
  dripInto,
  type Listener,
  listenPlain,
  listenTls,
  listenWithoutAccepting,
  pourInto,
} from "./hostile-socket.ts";

export interface Expected {
  /** Null when the attempt succeeds. */
  readonly error: RegExp | null;
  readonly status: number | null;
  /** Requests in which it would take 15 s until the end; none of them may take more than 16. */
  readonly slow?: boolean;
}

export interface Hostile extends Expected {
  readonly name: string;
  readonly url: string;
  readonly listener: Listener;
}

type Making = readonly [
  name: string,
  expected: Expected,
  listener: Promise<Listener>,
  scheme?: "https",
];

const ok = "HTTP/1.1 200 OK\r\n";
const tooSlow = /^no complete answer within 15 s$/;
const tooSlowAfter200 = /^no complete answer within 15 s \(it began with status 200\)$/;
const tooLong = /^the answer is longer than 64 KiB \(it began with status 200\)$/;
const reset = /^the connection was reset$/;
const notHttp = /^the answer is not valid HTTP: \w.+$/;

/** Answers once and leaves the connection open; `last` says so to the other side. */
const answering = (text: string | Uint8Array) =>
  listenPlain(afterRequest((socket) => void socket.write(text)));
const last = "connection: close\r\n";

const failing = (error: RegExp, status: number | null = null): Expected => ({ error, status });
const slow = (error: RegExp, status: number | null = null): Expected => ({
  ...failing(error, status),
  slow: true,
});

/** Nobody listens there. */
const closedPort = async (): Promise<Listener> => {
  const listener = await listenPlain(() => {});
  await listener.close();
  return listener;
};

const makings = (certificates: Certificates, canaryUrl: string): Making[] => {
  const bomb = gzipSync(Buffer.alloc(40_000_000), { level: 9 });
  const bigBomb = gzipSync(Buffer.alloc(100_000_000), { level: 9 });
  const zipped = (bytes: Uint8Array) =>
    Buffer.concat([
      Buffer.from(`${ok}${last}content-encoding: gzip\r\ncontent-length: ${bytes.length}\r\n\r\n`),
      bytes,
    ]);
  const chunk = Buffer.concat([
    Buffer.from("8000\r\n"),
    Buffer.alloc(0x8000, "x"),
    Buffer.from("\r\n"),
  ]);
  const manyHeaders = Array.from({ length: 10_000 }, (_, index) => `x-${index}: ${index}`);
  const serveOk = afterRequest((socket) => void socket.end(`${ok}content-length: 0\r\n\r\n`));
  const weak = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "ALL@SECLEVEL=0" } as const;

  return [
    [
      "endless body",
      failing(tooLong, 200),
      listenPlain(
        afterRequest((socket) => {
          socket.write(`${ok}content-type: text/plain\r\n\r\n`);
          pourInto(socket, Buffer.alloc(65_536, "x"));
        }),
      ),
    ],
    [
      "endless chunks",
      failing(tooLong, 200),
      listenPlain(
        afterRequest((socket) => {
          socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`);
          pourInto(socket, chunk);
        }),
      ),
    ],
    [
      "body in drips",
      slow(tooSlowAfter200, 200),
      listenPlain(
        afterRequest((socket) => {
          socket.write(`${ok}content-length: 100000\r\n\r\n`);
          dripInto(socket, "drip ");
        }),
      ),
    ],
    [
      "headers in drips",
      slow(tooSlow),
      listenPlain(
        afterRequest((socket) => {
          socket.write(ok);
          dripInto(socket, "x-a: b\r\n");
        }),
      ),
    ],
    ["gzip bomb", { error: null, status: 200 }, answering(zipped(bomb))],
    ["larger gzip bomb", failing(tooLong, 200), answering(zipped(bigBomb))],
    [
      "10,000 headers",
      failing(/^the answer's headers are larger than 16 KiB$/),
      answering(`${ok}${manyHeaders.join("\r\n")}\r\n\r\n`),
    ],
    [
      "redirect to itself",
      failing(/^answered 302; redirects are not followed$/, 302),
      answering(`HTTP/1.1 302 Found\r\n${last}location: /hook\r\ncontent-length: 0\r\n\r\n`),
    ],
    [
      "redirect elsewhere, with the body",
      failing(/^answered 307; redirects are not followed$/, 307),
      answering(`HTTP/1.1 307 T\r\n${last}location: ${canaryUrl}\r\ncontent-length: 0\r\n\r\n`),
    ],
    [
      "reset at once",
      failing(/^the connection was (reset|closed before the answer was complete)$/),
      listenPlain((socket) => void socket.resetAndDestroy()),
    ],
    [
      "reset after the request",
      failing(reset),
      listenPlain(afterRequest((socket) => void socket.resetAndDestroy())),
    ],
    [
      "reset within the headers",
      failing(reset),
      listenPlain(
        afterRequest((socket) => socket.write(`${ok}x-a: `, () => void socket.resetAndDestroy())),
      ),
    ],
    [
      "reset within the body",
      failing(/^the connection was reset( \(it began with status 200\))?$/, 200),
      listenPlain(
        afterRequest((socket) => {
          socket.write(`${ok}content-length: 9\r\n\r\nhalf`);
          setTimeout(() => socket.resetAndDestroy(), 300);
        }),
      ),
    ],
    [
      "closed within the headers",
      failing(/^the connection was closed before the answer was complete$/),
      listenPlain(afterRequest((socket) => void socket.end(`${ok}x-a: `))),
    ],
    [
      "body shorter than it says",
      failing(
        /^the connection was closed before the answer was complete \(it began with status 200\)$/,
        200,
      ),
      listenPlain(
        afterRequest((socket) => void socket.end(`${ok}content-length: 100\r\n\r\nshort`)),
      ),
    ],
    [
      "endless early hints",
      slow(tooSlow),
      listenPlain(
        afterRequest((socket) => {
          const timer = setInterval(() => {
            socket.write("HTTP/1.1 103 Early Hints\r\nlink: </x.css>; rel=preload\r\n\r\n");
          }, 5);
          socket.on("close", () => clearInterval(timer));
        }),
      ),
    ],
    [
      "another protocol asked for",
      failing(/^the connection was closed before the answer was complete$/),
      answering("HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
    ],
    ["not HTTP", failing(notHttp), answering("SSH-2.0-OpenSSH_9.9\r\n")],
    ["HTTP with a mistake", failing(notHttp), answering("HTTP/1.1 2OO OK\r\n\r\n")],
    ["never answering", slow(tooSlow), listenPlain((socket) => void socket.resume())],
    ["never accepting", failing(/^no connection within 5 s$/), listenWithoutAccepting()],
    ["nobody there", failing(/^the connection was refused$/), closedPort()],
    [
      "self-signed",
      failing(/^TLS: self-signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)$/),
      listenTls(certificates.selfSigned, serveOk),
      "https",
    ],
    [
      "unknown authority",
      failing(/^TLS: unable to verify the first certificate \(UNABLE_TO_[A-Z_]+\)$/),
      listenTls(certificates.unknownAuthority, serveOk),
      "https",
    ],
    [
      "expired",
      failing(/^TLS: certificate has expired \(CERT_HAS_EXPIRED\)$/),
      listenTls(certificates.expired, serveOk),
      "https",
    ],
    [
      "wrong name",
      failing(/^TLS: .*altnames.*other\.example \(ERR_TLS_CERT_ALTNAME_INVALID\)$/),
      listenTls(certificates.wrongName, serveOk),
      "https",
    ],
    [
      "plain text on the TLS port",
      failing(/^TLS: .*wrong version number.* \([A-Z_]+\)$/),
      listenPlain(afterRequest((socket) => void socket.write(`${ok}\r\n`))),
      "https",
    ],
    [
      "TLS 1.1 only",
      failing(/^TLS: .*protocol version.* \([A-Z_0-9]+\)$/),
      listenTls({ ...certificates.good, ...weak }, serveOk),
      "https",
    ],
    [
      "never shaking hands",
      failing(/^no connection within 5 s$/),
      listenPlain((socket) => void socket.resume()),
      "https",
    ],
  ];
};

export const startHostile = (certificates: Certificates, canaryUrl: string): Promise<Hostile[]> =>
  Promise.all(
    makings(certificates, canaryUrl).map(async ([name, expected, made, scheme]) => {
      const listener = await made;
      const host = scheme === "https" ? "https://localhost" : "http://127.0.0.1";
      return { name, ...expected, listener, url: `${host}:${listener.port}/hook` };
    }),
  );
