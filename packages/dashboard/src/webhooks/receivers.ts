// The example receivers, read from the webhook guide, where they are tested.
import guide from "../../../../docs/webhooks.md?raw";

export interface Receiver {
  readonly name: string;
  readonly file: string;
  readonly code: string;
}

const wanted = ["Node", "Python", "Go"];

const receiverOf = (name: string): readonly Receiver[] => {
  const [, afterHeading] = guide.split(`\n### ${name}\n`);
  const found = /```\w+ title="([^"]+)"\n([\s\S]*?)\n```/.exec(afterHeading ?? "");
  return found ? [{ name, file: found[1] ?? "", code: found[2] ?? "" }] : [];
};

export const receivers: readonly Receiver[] = wanted.flatMap(receiverOf);
