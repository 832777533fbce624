// Catches errors that a page throws while rendering, so that the rest stays usable.
import { Button } from "@mantine/core";
import { Component, type ReactNode } from "react";
import { ErrorMessage } from "./error-message.tsx";

interface Props {
  readonly children: ReactNode;
  /** The keys of what the tab keeps for the page: it may be what the page cannot display. */
  readonly drafts?: () => readonly string[];
}

interface State {
  readonly error: unknown;
}

export class ErrorBoundary extends Component<Props, State> {
  override state: State = { error: undefined };

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    const { children, drafts } = this.props;
    if (error === undefined) return children;
    const kept = drafts?.() ?? [];
    const discard = () => {
      for (const key of kept) sessionStorage.removeItem(key);
      this.setState({ error: undefined });
    };
    return (
      <ErrorMessage
        error={error}
        title="This page could not be displayed"
        // A part that failed to load stays failed until the page is loaded again.
        onRetry={() => location.reload()}
      >
        {kept.length > 0 && (
          <Button size="xs" variant="default" onClick={discard}>
            Discard my unsaved changes
          </Button>
        )}
      </ErrorMessage>
    );
  }
}
