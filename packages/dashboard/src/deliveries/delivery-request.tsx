// The request of a delivery, raw or formatted.
import type { SentDelivery } from "@halyard/sdk/management";
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../components/display/code-block.tsx";

const formatted = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

/** In whole seconds, as the header has it. */
const timestampOf = (at: string): number => Math.floor(Date.parse(at) / 1_000);

export const DeliveryRequest = ({ delivery }: { readonly delivery: SentDelivery }) => {
  const [format, setFormat] = useState("raw");
  const { request, attempts } = delivery;
  const last = attempts.at(-1);
  const head = [
    `${request.method} ${request.url}`,
    ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
    ...(last === undefined ? [] : [`webhook-timestamp: ${timestampOf(last.at)}`]),
  ].join("\n");
  return (
    <>
      <div className="delivery-part-head">
        <h4>Request</h4>
        <SegmentedControl
          size="xs"
          aria-label="Body format"
          data={[
            { value: "raw", label: "Raw" },
            { value: "formatted", label: "Formatted" },
          ]}
          value={format}
          onChange={setFormat}
        />
      </div>
      <CodeBlock code={head} label="Headers" what="headers" />
      <p className="delivery-note dimmed">
        {last === undefined
          ? "Each attempt"
          : "The timestamp is from the last attempt. Each attempt"}{" "}
        also carries signatures made with the secret; they are not stored.
      </p>
      <CodeBlock
        code={format === "raw" ? request.body : formatted(request.body)}
        label={format === "raw" ? "Body" : "Body (formatted)"}
        what="body"
      />
    </>
  );
};
