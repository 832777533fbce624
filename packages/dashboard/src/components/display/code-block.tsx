// Code or text with a copy button.
import { CopyButton } from "./copy-button.tsx";

interface CodeBlockProps {
  readonly code: string;
  readonly label: string;
  /** Follows "Copy"; the label unless given. */
  readonly what?: string;
}

export const CodeBlock = ({ code, label, what = label }: CodeBlockProps) => (
  <figure className="code-block">
    <figcaption>
      <span>{label}</span>
      <CopyButton text={code} what={what} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{code}</code>
    </pre>
  </figure>
);
