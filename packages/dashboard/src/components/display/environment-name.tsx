// What people call an environment, with a lock if it is protected.
import "../../styles/parts/environment-mark.css";
import { Icon } from "./icon.tsx";

export interface ShownEnvironment {
  readonly name: string;
  readonly label: string | null;
  readonly protected: boolean;
}

export const ProtectedMark = ({ environment }: { readonly environment: ShownEnvironment }) =>
  environment.protected && (
    <span className="environment-lock">
      <Icon name="lock" size={14} />
      <span className="visually-hidden"> (protected)</span>
    </span>
  );

export const labelOf = ({ name, label }: Pick<ShownEnvironment, "name" | "label">): string =>
  label || name;
