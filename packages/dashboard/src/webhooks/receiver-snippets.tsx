// A complete example receiver, one language at a time.
import { NativeSelect } from "@mantine/core";
import { useState } from "react";
import { CodeBlock } from "../components/display/code-block.tsx";
import { receivers } from "./receivers.ts";

export const ReceiverSnippets = () => {
  const [chosen, setChosen] = useState(receivers[0]?.name ?? "");
  const receiver = receivers.find(({ name }) => name === chosen);
  if (receiver === undefined) return null;
  return (
    <div className="receiver-snippets">
      <NativeSelect
        label="Example receiver"
        description="Complete and without dependencies. It reads the secret from HALYARD_WEBHOOK_SECRET and listens on port 3000."
        data={receivers.map(({ name }) => name)}
        value={receiver.name}
        onChange={(event) => setChosen(event.currentTarget.value)}
      />
      <CodeBlock code={receiver.code} label={receiver.file} />
    </div>
  );
};
