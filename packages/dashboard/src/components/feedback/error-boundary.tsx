// Catches errors that a page throws while rendering, so that the rest stays usable.
import { Component, type ReactNode } from "react";
import { ErrorMessage } from "./error-message.tsx";

interface Props {
  readonly children: ReactNode;
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
    if (error === undefined) return this.props.children;
    return (
      <ErrorMessage
        error={error}
        title="This page could not be displayed"
        // A part that failed to load stays failed until the page is loaded again.
        onRetry={() => location.reload()}
      />
    );
  }
}
