// A password to be chosen, with its rules said before the mistake.
import { PasswordInput } from "@mantine/core";
import type { ApiError } from "../api.ts";

/** As the server has it. */
const shortest = 10;
const longest = 250;

interface NewPasswordProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (password: string) => void;
  readonly error?: string | undefined;
  readonly focused?: boolean;
}

/** What the server says about the password itself. */
export const passwordError = (error: ApiError | undefined): string | undefined => {
  const problem = error?.failure.details?.find(({ field }) => field === "password");
  return problem && `It ${problem.message}.`;
};

/** Tells a password manager whose password it is, where the page need not. */
export const SavedUsername = ({ email }: { readonly email: string | null }) => (
  <input
    className="visually-hidden"
    type="email"
    name="email"
    autoComplete="username"
    value={email ?? ""}
    readOnly
    tabIndex={-1}
    aria-hidden="true"
  />
);

export const NewPassword = ({ label, value, onChange, error, focused }: NewPasswordProps) => (
  <PasswordInput
    label={label}
    description={`At least ${shortest} characters. Not your name or address, nor a password that many people use. Several words in a row are fine.`}
    name="new-password"
    value={value}
    onChange={(event) => onChange(event.currentTarget.value)}
    autoComplete="new-password"
    minLength={shortest}
    maxLength={longest}
    required
    autoFocus={focused ?? false}
    error={error}
  />
);
