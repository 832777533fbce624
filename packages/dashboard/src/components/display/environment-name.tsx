// What people call an environment, with its color and, when it is protected, a lock. The name is always there: color says nothing alone.
import type { CSSProperties } from "react";
import "../../styles/parts/environment-mark.css";
import { Icon } from "./icon.tsx";

export interface ShownEnvironment {
  readonly name: string;
  readonly label: string | null;
  readonly color: string | null;
  readonly protected: boolean;
}

/** For the styles that use the color of an environment. */
export const colorStyle = (color: string | null): CSSProperties =>
  (color ? { "--environment-color": `var(--mantine-color-${color}-6)` } : {}) as CSSProperties;

interface EnvironmentDotProps {
  readonly color: string | null;
}

export const EnvironmentDot = ({ color }: EnvironmentDotProps) =>
  color ? <span className="environment-dot" style={colorStyle(color)} aria-hidden="true" /> : null;

export const ProtectedMark = ({ environment }: { readonly environment: ShownEnvironment }) =>
  environment.protected && (
    <span className="environment-lock">
      <Icon name="lock" size={14} />
      <span className="visually-hidden"> (protected)</span>
    </span>
  );

export const labelOf = ({ name, label }: Pick<ShownEnvironment, "name" | "label">): string =>
  label || name;
