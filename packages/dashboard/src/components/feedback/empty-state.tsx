// Shown where there is nothing yet: what belongs here and how to create the first one.
import { Title } from "@mantine/core";
import type { ReactNode } from "react";
import { CodeBlock } from "../display/code-block.tsx";

interface EmptyStateProps {
  readonly title: string;
  /** 1 where it is the whole page. */
  readonly order?: 1 | 2;
  readonly children: ReactNode;
  /** A shell command that creates the first one. */
  readonly command?: string;
  readonly action?: ReactNode;
}

export const EmptyState = ({ title, order = 2, children, command, action }: EmptyStateProps) => (
  <div className="empty-state">
    <Title order={order} size="h4">
      {title}
    </Title>
    <div className="empty-state-text">{children}</div>
    {action}
    {command !== undefined && (
      <CodeBlock code={command} label="From the command line" what="command" />
    )}
  </div>
);
