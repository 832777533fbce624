// Code or text exactly as it is, with a button that copies it.
import { CopyButton } from "./copy-button.tsx";

interface CodeBlockProps {
  readonly code: string;
  readonly label?: string;
}

export const CodeBlock = ({ code, label }: CodeBlockProps) => (
  <figure className="code-block">
    <figcaption>
      <span>{label}</span>
      <CopyButton text={code} what={label ?? "the code"} />
    </figcaption>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
    <pre tabIndex={0}>
      <code>{code}</code>
    </pre>
  </figure>
);
