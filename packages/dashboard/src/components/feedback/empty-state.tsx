// What is shown where there is nothing yet: it says what belongs here and how to get the first one.
import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../display/code-block.tsx";

interface EmptyStateProps {
  readonly title: string;
  readonly children: ReactNode;
  /** A command that makes the first one. */
  readonly command?: string;
  readonly action?: ReactNode;
}

export const EmptyState = ({ title, children, command, action }: EmptyStateProps) => (
  <div className="empty-state">
    <Title order={2} size="h4">
      {title}
    </Title>
    <div className="empty-state-text">{children}</div>
    {action}
    {command !== undefined && <CodeBlock code={command} label="The same from a terminal" />}
  </div>
);
