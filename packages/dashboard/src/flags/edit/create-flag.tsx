// The dialog that creates a flag.
import { Button, Group, Modal, Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../../api.ts";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { useLiveState } from "../../live-provider.tsx";
import { useFlagEdits } from "./flag-edits.tsx";
import { RolloutInput } from "./rollout-input.tsx";

interface CreateFlagProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onCreated: (key: string) => void;
}

const keyRule = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const maxDescription = 2_000;

const complaintAbout = (key: string, isTaken: boolean): string | undefined => {
  if (key === "") return undefined;
  if (!keyRule.test(key)) {
    return "Letters, digits, dot, underscore and hyphen, beginning with a letter or a digit; at most 128.";
  }
  return isTaken ? "There is a flag with this key already." : undefined;
};

const CreateFlagForm = ({ onClose, onCreated }: Omit<CreateFlagProps, "opened">) => {
  const edits = useFlagEdits();
  const { byKey } = useLiveState();
  const [key, setKey] = useState("");
  const [type, setType] = useState<"boolean" | "rollout">("boolean");
  const [percentage, setPercentage] = useState(0);
  const [description, setDescription] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const complaint = complaintAbout(key, byKey.has(key));

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (complaint !== undefined || key === "") return;
    setBusy(true);
    const result = await edits.create({
      key,
      type,
      ...(description.trim() !== "" && { description: description.trim() }),
      ...(type === "rollout" && { percentage }),
    });
    setBusy(false);
    if (result.ok) onCreated(key);
    else setError(new ApiError(result.error));
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Key"
          description="What programs ask for. It cannot be changed later."
          value={key}
          onChange={(event) => setKey(event.currentTarget.value)}
          error={complaint}
          placeholder="new-checkout"
          autoComplete="off"
          spellCheck={false}
          required
          data-autofocus
        />
        <Radio.Group
          label="Type"
          description="It cannot be changed later."
          value={type}
          onChange={(value) => setType(value === "rollout" ? "rollout" : "boolean")}
        >
          <Stack gap="xs" mt="xs">
            <Radio value="boolean" label="boolean: on or off for everyone" />
            <Radio
              value="rollout"
              label="rollout: on for a percentage of users, always the same ones"
            />
          </Stack>
        </Radio.Group>
        {type === "rollout" && <RolloutInput value={percentage} onChange={setPercentage} />}
        <Textarea
          label="Description"
          description="For people: what it switches, who to ask, when it can go."
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
          maxLength={maxDescription}
          autosize
          minRows={2}
          maxRows={6}
        />
        {error !== undefined && <ErrorMessage error={error} title="The flag was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={key === "" || complaint !== undefined}>
            Create the flag
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

export const CreateFlag = ({ opened, onClose, onCreated }: CreateFlagProps) => (
  <Modal opened={opened} onClose={onClose} title="Create a flag" size="lg">
    <CreateFlagForm onClose={onClose} onCreated={onCreated} />
  </Modal>
);
