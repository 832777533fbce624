// What owners can change of one environment: what people call it, its protection, its limit on flips and when it expires; and its end.
import type { Environment, EnvironmentPatch } from "@halyard/sdk/management";
import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useLocation } from "wouter";
import { Time } from "../components/display/time.tsx";
import { useConfirm } from "../components/feedback/confirm.tsx";
import { notifyDone, notifyError } from "../components/feedback/notify.tsx";
import { Section } from "../components/layout/section.tsx";
import { MaxFlipsInput } from "../flips/max-flips-input.tsx";
import { formatFullDate, formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";
import { maxLabelLength, useEnvironmentsChanged } from "./environment-queries.ts";

interface EnvironmentProps {
  readonly environment: Environment;
}

/** Whether it was changed; what was proposed was not. */
const useChange = ({ name }: Environment) => {
  const { management } = useApi();
  const changed = useEnvironmentsChanged();
  return async (patch: EnvironmentPatch, done: string): Promise<boolean> => {
    const result = await management.environments.update(name, patch);
    if (result.ok) notifyDone({ title: name, message: done });
    else notifyError(`${name} was not changed`, result.error);
    await changed();
    return result.ok;
  };
};

const Label = ({ environment }: EnvironmentProps) => {
  const change = useChange(environment);
  const [label, setLabel] = useState(environment.label ?? "");
  const [busy, setBusy] = useState(false);
  const isSame = label.trim() === (environment.label ?? "");
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isSame) return;
    setBusy(true);
    await change({ label: label.trim() === "" ? null : label.trim() }, "Saved.");
    setBusy(false);
  };
  return (
    <Section title="Label">
      <form onSubmit={(event) => void submit(event)}>
        <div className="environment-fields">
          <TextInput
            label="Label"
            description="What people call it. The name itself stays."
            placeholder={environment.name}
            value={label}
            onChange={(event) => setLabel(event.currentTarget.value)}
            maxLength={maxLabelLength}
            autoComplete="off"
          />
        </div>
        <Button mt="sm" type="submit" loading={busy} disabled={isSame}>
          Save
        </Button>
      </form>
    </Section>
  );
};

const Protection = ({ environment }: EnvironmentProps) => {
  const { name, protected: isProtected } = environment;
  const change = useChange(environment);
  const ask = useConfirm();
  const protect = async () => {
    const isSure = await ask({
      title: `Protect ${name}?`,
      body: (
        <p className="confirm-sentence">
          From then on every change of its flags and segments is a request that a second person
          approves, also when a key makes it. Keys that write directly, and taking the protection
          off, need an approval too.
        </p>
      ),
      confirmLabel: "Protect",
    });
    if (isSure) await change({ protected: true }, "Protected: changes need an approval.");
  };
  const unprotect = async () => {
    const isSure = await ask({
      title: `Propose to take the protection off ${name}?`,
      body: (
        <p className="confirm-sentence">
          That needs an approval itself. Once it is given, changes take effect at once, without a
          second person.
        </p>
      ),
      confirmLabel: "Propose",
    });
    if (isSure) await change({ protected: false }, "No longer protected.");
  };
  return (
    <Section title="Protection">
      <p className="environment-words-text">
        {isProtected
          ? "Protected: every change of a flag or segment needs the approval of a second person. An owner can go past it with a reason, which is marked everywhere."
          : "Not protected: changes take effect at once."}
      </p>
      <Button variant="default" onClick={() => void (isProtected ? unprotect() : protect())}>
        {isProtected ? "Take the protection off…" : "Protect…"}
      </Button>
    </Section>
  );
};

const FlipLimit = ({ environment }: EnvironmentProps) => {
  const change = useChange(environment);
  const [limit, setLimit] = useState(environment.maxFlips);
  const [busy, setBusy] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (limit === environment.maxFlips) return;
    setBusy(true);
    await change({ maxFlips: limit }, limit === null ? "No limit on flips." : "Limit saved.");
    setBusy(false);
  };
  return (
    <Section title="Limit on flips">
      <form onSubmit={(event) => void submit(event)}>
        <p className="environment-words-text">
          A change of flags or segments that gives more of the people seen lately another value is
          refused, until whoever makes it confirms how many. Empty for no limit.
        </p>
        <MaxFlipsInput label="Percent of people" value={limit} onChange={setLimit} />
        <Button mt="sm" type="submit" loading={busy} disabled={limit === environment.maxFlips}>
          Set limit
        </Button>
      </form>
    </Section>
  );
};

const Expiry = ({ environment }: EnvironmentProps) => {
  const { expiresAt } = environment;
  const change = useChange(environment);
  if (expiresAt === null) return null;
  return (
    <Section title="Expiry">
      <p className="environment-words-text">
        It is deleted with everything in it <Time at={expiresAt} />, at {formatFullDate(expiresAt)}.
      </p>
      <Button
        variant="default"
        onClick={() => void change({ expiresAt: null }, "It no longer expires.")}
      >
        Keep it
      </Button>
    </Section>
  );
};

const Deletion = ({ environment }: EnvironmentProps) => {
  const { name, flags, protected: isProtected } = environment;
  const { management, environment: shown } = useApi();
  const changed = useEnvironmentsChanged();
  const ask = useConfirm();
  const [, navigate] = useLocation();
  const remove = async () => {
    const isSure = await ask({
      title: `Delete the environment ${name}?`,
      body: (
        <>
          <p className="confirm-sentence">
            Its {formatNumber(flags)} {flags === 1 ? "flag" : "flags"}, its segments, webhooks,
            keys, requests and its history go with it. This cannot be undone.
          </p>
          <p className="confirm-sentence">
            Programs that use one of its keys are refused at once and get the default values in
            their code.
          </p>
        </>
      ),
      confirmLabel: "Delete environment",
      danger: true,
      typed: name,
    });
    if (!isSure) return;
    const result = await management.environments.delete(name, { flags: true });
    if (!result.ok) return notifyError(`${name} was not deleted`, result.error);
    notifyDone({ title: name, message: "Deleted." });
    if (name !== shown.name) navigate("/environments");
    await changed();
  };
  return (
    <Section title="Delete">
      <p className="environment-words-text">
        {isProtected
          ? "A protected environment cannot be deleted. Take the protection off first, which another person approves."
          : "Deletes the environment with everything in it: flags, segments, webhooks, keys and history."}
      </p>
      {!isProtected && (
        <Button color="red.9" onClick={() => void remove()}>
          Delete {name}…
        </Button>
      )}
    </Section>
  );
};

export const EnvironmentSettings = ({ environment }: EnvironmentProps) => (
  <>
    <Label environment={environment} />
    <Protection environment={environment} />
    <FlipLimit environment={environment} />
    <Expiry environment={environment} />
    <Deletion environment={environment} />
  </>
);
