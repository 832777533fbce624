// Spans through the OpenTelemetry API, when the operator has loaded an SDK.
import type { Attributes, Context, Span, Tracer } from "@opentelemetry/api";
import type { Send } from "../database/store.ts";
import { RolledBack } from "../errors.ts";
import { endingOf } from "./delivery-meter.ts";

type Api = typeof import("@opentelemetry/api");

/** What is known of a request when it arrives. */
export interface RequestHead {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly attributes: Attributes;
}

export interface RequestSpan {
  /** Runs the callback; its spans become children of this one. */
  run(callback: () => void): void;
  /** The pattern of the route, once it is known. */
  named(route: string): void;
  end(status: number, attributes?: Attributes): void;
}

export interface Tracing {
  request(head: RequestHead): RequestSpan;
  /** A span for a call of the store that belongs to another span; what nobody asked for has none. */
  storeCall<T>(name: string, callback: () => Promise<T>): Promise<T>;
  /** A span for every attempt. */
  readonly send: (send: Send) => Send;
}

/** Where every copy of the API keeps what was registered. */
const registry = Symbol.for("opentelemetry.js.api.1");

interface Registered {
  readonly version?: string;
  readonly trace?: unknown;
}

export interface TracingLog {
  warn(fields: object, message: string): void;
}

/** Undefined unless an SDK was loaded first, as with `node --import`. */
export const findTracing = async (
  version: string,
  databaseSystem: string,
  log: TracingLog,
): Promise<Tracing | undefined> => {
  // Loaded only with an SDK: it would cost every start some milliseconds.
  const registered = (globalThis as Record<symbol, Registered | undefined>)[registry];
  if (!registered?.trace) return undefined;
  const api = await import("@opentelemetry/api");
  const provider = api.trace.getTracerProvider();
  if (
    provider instanceof api.ProxyTracerProvider &&
    provider.getDelegateTracer("halyard") === undefined
  ) {
    log.warn(
      { version: registered.version },
      "no traces: the loaded OpenTelemetry SDK uses an incompatible version of the API; use a newer SDK",
    );
    return undefined;
  }
  return createTracing(api, api.trace.getTracer("halyard", version), databaseSystem);
};

const createTracing = (api: Api, tracer: Tracer, databaseSystem: string): Tracing => {
  const { context, propagation, trace, SpanKind, SpanStatusCode } = api;
  // The key that SDKs look for: instrumentations must not send our trace context to receivers.
  const silent = api.createContextKey("OpenTelemetry SDK Context Key SUPPRESS_TRACING");

  const failed = (span: Span, type: string): void => {
    span.setAttribute("error.type", type);
    span.setStatus({ code: SpanStatusCode.ERROR });
  };

  const requestSpan = (span: Span, within: Context, method: string): RequestSpan => ({
    run: (callback) => context.with(within, callback),
    named(route) {
      span.updateName(`${method} ${route}`).setAttribute("http.route", route);
    },
    end(status, attributes = {}) {
      span.setAttributes({ ...attributes, "http.response.status_code": status });
      if (status >= 500) failed(span, String(status));
      span.end();
    },
  });

  return {
    request({ method, headers, attributes }) {
      const parent = propagation.extract(api.ROOT_CONTEXT, headers);
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
      return requestSpan(span, trace.setSpan(parent, span), method);
    },

    storeCall(name, callback) {
      if (!trace.getActiveSpan()?.isRecording()) return callback();
      const attributes = { "db.system.name": databaseSystem, "db.operation.name": name };
      const options = { kind: SpanKind.CLIENT, attributes };
      return tracer.startActiveSpan(`store ${name}`, options, async (span) => {
        try {
          return await callback();
        } catch (error) {
          if (!(error instanceof RolledBack)) {
            failed(span, error instanceof Error ? error.name : "unknown");
          }
          throw error;
        } finally {
          span.end();
        }
      });
    },

    send: (send) => async (url, headers, body) => {
      const { hostname, port, protocol } = new URL(url);
      const span = tracer.startSpan(
        "POST",
        {
          kind: SpanKind.CLIENT,
          root: true,
          // Not the whole URL: many receivers have a secret in its path.
          attributes: {
            "http.request.method": "POST",
            "server.address": hostname,
            "server.port": Number(port) || (protocol === "https:" ? 443 : 80),
            "url.scheme": protocol.slice(0, -1),
            ...(headers["webhook-id"] !== undefined && {
              "halyard.event.id": headers["webhook-id"],
            }),
          },
        },
        api.ROOT_CONTEXT,
      );
      const outcome = await context.with(api.ROOT_CONTEXT.setValue(silent, true), () =>
        send(url, headers, body),
      );
      if (outcome.status !== undefined) {
        span.setAttribute("http.response.status_code", outcome.status);
      }
      const ending = endingOf(outcome);
      if (ending !== "success") {
        failed(span, outcome.kind === "answered" ? String(outcome.status) : ending);
      }
      span.end();
      return outcome;
    },
  };
};
