// The request of a delivery exactly as it is sent, or laid out for reading.
import type { SentDelivery } from "@halyard/sdk";
import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../components/display/code-block.tsx";

const laidOut = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
};

/** The timestamp is the second in which the attempt began. */
const timestampOf = (at: string): number => Math.floor(Date.parse(at) / 1_000);

export const DeliveryRequest = ({ delivery }: { readonly delivery: SentDelivery }) => {
  const [form, setForm] = useState("exact");
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
          aria-label="Form of the body"
          data={[
            { value: "exact", label: "exactly as sent" },
            { value: "readable", label: "laid out" },
          ]}
          value={form}
          onChange={setForm}
        />
      </div>
      <CodeBlock code={head} label="the headers" />
      <p className="delivery-note dimmed">
        {last === undefined ? "Each attempt" : "The timestamp is of the last attempt. Each attempt"}{" "}
        also carries signatures made with the secret; they are not kept.
      </p>
      <CodeBlock
        code={form === "exact" ? request.body : laidOut(request.body)}
        label={form === "exact" ? "the body" : "the body, laid out"}
      />
    </>
  );
};
