// A setting as text, for those who cannot edit it: a disabled input has too little contrast to be read.
import type { ReactNode } from "react";
import "../../styles/parts/read-only.css";
import { StatusBadge } from "./status-badge.tsx";

interface ReadOnlyProps {
  readonly label: string;
  /** An empty value is shown as "None". */
  readonly children: ReactNode;
}

export const ReadOnly = ({ label, children }: ReadOnlyProps) => (
  <dl className="read-only">
    <dt>{label}</dt>
    <dd>{children || <span className="dimmed">None</span>}</dd>
  </dl>
);

/** In place of the switch of a flag. */
export const OnOff = ({ isOn }: { readonly isOn: boolean }) => (
  <StatusBadge tone={isOn ? "good" : "quiet"}>{isOn ? "On" : "Off"}</StatusBadge>
);
