// The heading of a page, which is also the title of the browser's tab.
import { Group, Title } from "@mantine/core";
import { type ReactNode, useEffect } from "react";
import { useApi } from "../../session.tsx";

interface PageTitleProps {
  readonly title: string;
  /** Shown instead of the title, such as a key in a monospace font. */
  readonly heading?: ReactNode;
  readonly description?: ReactNode;
  /** Buttons at the right. */
  readonly children?: ReactNode;
}

export const PageTitle = ({ title, heading, description, children }: PageTitleProps) => {
  const { name } = useApi().environment;
  useEffect(() => {
    document.title = [title, name, "Halyard"].join(" · ");
  }, [title, name]);
  return (
    <div className="page-title">
      <div className="page-title-words">
        <Title order={1} size="h2">
          {heading ?? title}
        </Title>
        {description !== undefined && <div className="page-description">{description}</div>}
      </div>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </div>
  );
};
