// E-mail address and password, then the second factor of those who have one.
import { Anchor, Button, PasswordInput, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError, type Session } from "../api.ts";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { CodeInput } from "./code-input.tsx";
import { needsCode, signInWithPassword } from "./sign-in-calls.ts";

interface PasswordFormProps {
  readonly onSignedIn: (session: Session) => void;
}

type Step = "password" | "code";

const wrong: Readonly<Record<Step, string>> = {
  password:
    "The e-mail address or the password is wrong. If you have lost your password, ask an owner for a new invitation link.",
  code: "The code is wrong, has expired or was used before. Enter the next one.",
};

export const PasswordForm = ({ onSignedIn }: PasswordFormProps) => {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [step, setStep] = useState<Step>("password");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const isWrong = error?.failure.code === "UNAUTHORIZED";

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const given = { email: email.trim(), password };
    const result = await signInWithPassword(
      step === "code" ? { ...given, code: code.replaceAll(/\s/g, "") } : given,
    );
    setBusy(false);
    if (result.ok) return onSignedIn(result.value);
    if (step === "password" && needsCode(result)) {
      setError(undefined);
      return setStep("code");
    }
    // The password was changed in between.
    if (result.error.code === "UNAUTHORIZED" && !needsCode(result)) setStep("password");
    setCode("");
    setError(new ApiError(result.error));
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      {step === "password" ? (
        <>
          <TextInput
            type="email"
            name="email"
            label="E-mail address"
            value={email}
            onChange={(event) => setEmail(event.currentTarget.value)}
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            required
            autoFocus
          />
          <PasswordInput
            name="password"
            label="Password"
            mt="sm"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
            autoComplete="current-password"
            required
            error={isWrong ? wrong.password : undefined}
          />
        </>
      ) : (
        <CodeInput
          value={code}
          onChange={setCode}
          error={isWrong ? wrong.code : undefined}
          focused
        />
      )}
      {error !== undefined && !isWrong && (
        <div className="sign-in-error">
          <ErrorMessage error={error} title="Sign-in failed" />
        </div>
      )}
      <Button type="submit" fullWidth mt="md" loading={busy}>
        {step === "code" ? "Confirm" : "Sign in"}
      </Button>
      {step === "code" && (
        <Anchor
          component="button"
          type="button"
          size="sm"
          mt="md"
          onClick={() => {
            setCode("");
            setError(undefined);
            setStep("password");
          }}
        >
          Sign in as somebody else
        </Anchor>
      )}
    </form>
  );
};
