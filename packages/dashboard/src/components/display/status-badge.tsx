// A status as text and color, never color alone.
import type { ReactNode } from "react";

export type Tone = "good" | "bad" | "waiting" | "quiet";

interface StatusBadgeProps {
  readonly tone: Tone;
  readonly children: ReactNode;
}

export const StatusBadge = ({ tone, children }: StatusBadgeProps) => (
  <span className="status-badge" data-tone={tone}>
    {children}
  </span>
);
