// The second factor: a code of the authenticator app, or one of the recovery codes.
import { Anchor, TextInput } from "@mantine/core";
import { useState } from "react";

interface CodeInputProps {
  readonly value: string;
  readonly onChange: (code: string) => void;
  readonly error?: string | undefined;
  readonly focused?: boolean;
}

export const CodeInput = ({ value, onChange, error, focused = false }: CodeInputProps) => {
  const [isRecovery, setRecovery] = useState(false);
  return (
    <>
      <TextInput
        key={String(isRecovery)}
        label={isRecovery ? "Recovery code" : "Code"}
        description={
          isRecovery
            ? "One of those that you saved. Each works once."
            : "The 6 digits that your authenticator app shows now"
        }
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
        name="code"
        autoComplete={isRecovery ? "off" : "one-time-code"}
        inputMode={isRecovery ? "text" : "numeric"}
        spellCheck={false}
        autoCapitalize="none"
        error={error}
        required
        autoFocus={focused || isRecovery}
      />
      <Anchor
        component="button"
        type="button"
        size="sm"
        mt="xs"
        onClick={() => {
          onChange("");
          setRecovery(!isRecovery);
        }}
      >
        {isRecovery ? "Use the authenticator app" : "Use a recovery code"}
      </Anchor>
    </>
  );
};
