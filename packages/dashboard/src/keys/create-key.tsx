// The dialog that creates an API key and then shows it once.
import type { CreatedApiKey, Role } from "@halyard/sdk/management";
import {
  Alert,
  Anchor,
  Button,
  Checkbox,
  Group,
  Modal,
  NativeSelect,
  Radio,
  Stack,
  TextInput,
} from "@mantine/core";
import { type FormEvent, useState } from "react";
import { Link } from "wouter";
import { ApiError } from "../api.ts";
import { CodeBlock } from "../components/display/code-block.tsx";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { ErrorMessage } from "../components/feedback/error-message.tsx";
import { MaxFlipsInput } from "../flips/max-flips-input.tsx";
import { pathOfRequest } from "../proposal.ts";
import { useApi, useSession } from "../session.tsx";
import { roles } from "./roles.ts";

const maxNameLength = 100;
const day = 86_400_000;
/** Days from now by what is chosen; none when the key does not expire. */
const expiries: readonly { readonly label: string; readonly days?: number }[] = [
  { label: "Never" },
  { label: "In 7 days", days: 7 },
  { label: "In 30 days", days: 30 },
  { label: "In 90 days", days: 90 },
  { label: "In 1 year", days: 365 },
];

const expiryOf = (label: string): { readonly expiresAt?: string } => {
  const days = expiries.find((each) => each.label === label)?.days;
  return days === undefined ? {} : { expiresAt: new Date(Date.now() + days * day).toISOString() };
};

const originsOf = (role: Role, text: string): { readonly origins?: readonly string[] } => {
  const origins = role === "client" ? text.split(/[\s,]+/).filter((each) => each !== "") : [];
  return origins.length === 0 ? {} : { origins };
};

interface FormProps {
  readonly onClose: () => void;
  readonly onCreated: (key: CreatedApiKey) => void;
}

const CreateForm = ({ onClose, onCreated }: FormProps) => {
  const { management, environment } = useApi();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("server");
  const [expiry, setExpiry] = useState("Never");
  const [origins, setOrigins] = useState("");
  const [writesDirectly, setWritesDirectly] = useState(false);
  const [maxFlips, setMaxFlips] = useState<number | null>(null);
  const mayChange = role === "editor" || role === "admin";
  const changes = environment.protected && mayChange;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === "") return;
    setBusy(true);
    const result = await management.keys.create({
      name: name.trim(),
      role,
      ...expiryOf(expiry),
      ...originsOf(role, origins),
      ...(changes && writesDirectly && { writesDirectly }),
      ...(mayChange && maxFlips !== null && { maxFlips }),
    });
    setBusy(false);
    if (result.ok) onCreated(result.value);
    else setError(new ApiError(result.error));
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Name"
          description="Who or what uses the key. Shown in history and events."
          placeholder="checkout service"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={maxNameLength}
          autoComplete="off"
          required
          data-autofocus
        />
        <Radio.Group
          label="Role"
          description={`What the key may do in ${environment.name}. Other environments need their own keys.`}
          value={role}
          onChange={(value) => setRole(roles.find((each) => each.role === value)?.role ?? "server")}
        >
          <Stack gap="sm" mt="xs">
            {roles.map(({ role: each, permissions, usage }) => (
              <Radio
                key={each}
                value={each}
                label={`${each}: ${permissions}`}
                description={usage}
              />
            ))}
          </Stack>
        </Radio.Group>
        {role === "client" && (
          <TextInput
            label="Allowed origins"
            description="Only pages of these origins may use the key, and no programs. Empty allows all."
            placeholder="https://shop.example.com"
            value={origins}
            onChange={(event) => setOrigins(event.currentTarget.value)}
            autoComplete="off"
          />
        )}
        {changes && (
          <Checkbox
            label="Writes directly"
            description={`${environment.name} is protected: without this, what the key changes is proposed. Another person has to approve that it writes directly.`}
            checked={writesDirectly}
            onChange={(event) => setWritesDirectly(event.currentTarget.checked)}
          />
        )}
        {mayChange && (
          <MaxFlipsInput
            label="Limit on flips"
            value={maxFlips}
            onChange={setMaxFlips}
            description="Of people seen lately. A change by the key that gives more of them another value is refused, unless the request confirms how many. The lower of this and the limit of the environment counts."
          />
        )}
        <NativeSelect
          label="Expires"
          description="After that the key is refused. It cannot be changed later."
          data={expiries.map(({ label }) => label)}
          value={expiry}
          onChange={(event) => setExpiry(event.currentTarget.value)}
        />
        {error !== undefined && <ErrorMessage error={error} title="The key was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={name.trim() === ""}>
            Create key
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

/** Shell commands that use the key once. */
const firstCall = ({ role, key }: CreatedApiKey): string => {
  const header = '-H "Authorization: Bearer $HALYARD_API_KEY"';
  const call =
    role === "client"
      ? `curl -X POST ${location.origin}/ofrep/v1/evaluate/flags ${header} \\
  -H "Content-Type: application/json" -d '{"context":{"targetingKey":"user-7"}}'`
      : `curl ${location.origin}/api/v1/flags ${header}`;
  return `export HALYARD_API_KEY=${key}\n${call}`;
};

interface CreateKeyProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: () => void;
}

export const CreateKey = ({ opened, onClose, onCreated }: CreateKeyProps) => {
  const [created, setCreated] = useState<CreatedApiKey | undefined>();
  const { use } = useSession();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={created === undefined ? "Create key" : `Key ${created.name}`}
      size="lg"
      // Only the button that says so discards the key.
      closeOnClickOutside={created === undefined}
      closeOnEscape={created === undefined}
      withCloseButton={created === undefined}
    >
      {created === undefined ? (
        <CreateForm
          onClose={onClose}
          onCreated={(key) => {
            setCreated(key);
            if (key.proposed) use.onProposed();
            onCreated();
          }}
        />
      ) : (
        <Stack gap="lg">
          <SecretOnce
            what="key"
            text={created.key}
            advice="Store it in the configuration of your program or in a password manager. If you lose it, revoke it and create another."
          />
          {created.proposed && (
            <Alert
              variant="light"
              title="It proposes until somebody else approves that it writes directly"
            >
              <Anchor inherit component={Link} href={pathOfRequest(created.proposed.id)}>
                Show the request
              </Anchor>{" "}
              once you have saved the key.
            </Alert>
          )}
          <CodeBlock code={firstCall(created)} label="Try it" what="commands" />
          <Group justify="flex-end">
            <Button onClick={close}>I saved the key</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
};
