// Loaded into a server with node --import, as an operator loads an OpenTelemetry SDK: prints every span that ends.
import { subscribe } from "node:diagnostics_channel";
import { context, propagation, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";

type Exporter = ConstructorParameters<typeof SimpleSpanProcessor>[0];

const printing: Exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { name, kind, attributes, status } = span;
      const { traceId, spanId } = span.spanContext();
      const shown = {
        name,
        kind: SpanKind[kind],
        traceId,
        spanId,
        parentId: span.parentSpanContext?.spanId,
        failed: status.code === SpanStatusCode.ERROR,
        attributes,
        scope: span.instrumentationScope.name,
      };
      process.stdout.write(`SPAN ${JSON.stringify(shown)}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => undefined,
};

new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(printing)] }).register();

// What an instrumentation of undici does with each request: hand the trace on.
subscribe("undici:request:create", (message) => {
  const { request } = message as { request: { addHeader(name: string, value: string): void } };
  propagation.inject(context.active(), request, {
    set: (to, name, value) => to.addHeader(name, value),
  });
});
