// The dialog that creates a flag.
import {
  type FlagMembers,
  type FlagTypeName,
  flagTypeNames,
  isFlagTypeName,
  ownMembersOf,
} from "@halyard/core/flags/registry";
import { maxDescriptionLength } from "@halyard/core/flags/rules";
import { Button, Group, Modal, Radio, Stack, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { ApiError } from "../../api.ts";
import { ErrorMessage } from "../../components/feedback/error-message.tsx";
import { givenReason, ReasonInput } from "../../components/feedback/reason.tsx";
import { keyError } from "../../key-error.ts";
import { useLiveState } from "../../live-provider.tsx";
import { proposedAt } from "../../proposal.ts";
import { useApi } from "../../session.tsx";
import { editorOf } from "../types/type-editors.tsx";
import { useKept } from "./edit-draft.tsx";
import { useFlagEdits } from "./flag-edits.tsx";
import { newFlagDraft } from "./kept-drafts.ts";

interface CreateFlagProps {
  readonly opened: boolean;
  /** To begin with. */
  readonly initialKey?: string;
  readonly onClose: () => void;
  readonly onCreated: (key: string) => void;
}

const initialMembers = (type: FlagTypeName): FlagMembers =>
  editorOf(type).initial ??
  Object.fromEntries(ownMembersOf(type).map(([name, { initial }]) => [name, initial]));

interface NewFlag {
  readonly key: string;
  readonly type: FlagTypeName;
  readonly members: FlagMembers;
  readonly description: string;
  readonly reason: string;
}
const begin = (key: string): NewFlag => ({
  key,
  type: "boolean",
  members: initialMembers("boolean"),
  description: "",
  reason: "",
});

const CreateFlagForm = ({
  initialKey = "",
  onClose,
  onCreated,
}: Omit<CreateFlagProps, "opened">) => {
  const edits = useFlagEdits();
  const { byKey } = useLiveState();
  const { asksReason, proposes } = useApi();
  /** Escape closes the dialog and keeps what was typed. */
  const [kept, keep] = useKept<NewFlag>(newFlagDraft(initialKey));
  const typed = kept ?? begin(initialKey);
  const { key, type, members, description, reason } = typed;
  const set = (change: Partial<NewFlag>) => keep({ ...typed, ...change });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const wrongKey = keyError(key, "flag", byKey.has(key));
  const { MembersInput } = editorOf(type);

  const chooseType = (name: string) => {
    if (!isFlagTypeName(name)) return;
    set({ type: name, members: initialMembers(name) });
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (wrongKey !== undefined || key === "") return;
    setBusy(true);
    const flag = {
      key,
      type,
      ...(description.trim() !== "" && { description: description.trim() }),
      ...members,
    };
    const result = await edits.create(flag, givenReason(reason));
    setBusy(false);
    const isProposed = !result.ok && proposedAt(result.error) !== undefined;
    if (!result.ok && !isProposed) return setError(new ApiError(result.error));
    keep(undefined);
    if (isProposed) onClose();
    else onCreated(key);
  };

  const cancel = () => {
    keep(undefined);
    onClose();
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack gap="md">
        <TextInput
          label="Key"
          description="The name that your code uses. It cannot be changed later."
          value={key}
          onChange={(event) => set({ key: event.currentTarget.value })}
          error={wrongKey}
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
          onChange={chooseType}
        >
          <Stack gap="xs" mt="xs">
            {flagTypeNames.map((name) => (
              <Radio
                key={name}
                value={name}
                label={`${editorOf(name).label}: ${editorOf(name).explanation}`}
              />
            ))}
          </Stack>
        </Radio.Group>
        {MembersInput && (
          <MembersInput isNew value={members} onChange={(next) => set({ members: next })} />
        )}
        <Textarea
          label="Description"
          description="What the flag controls, who owns it, when it can be removed."
          value={description}
          onChange={(event) => set({ description: event.currentTarget.value })}
          maxLength={maxDescriptionLength}
          autosize
          minRows={2}
          maxRows={6}
        />
        {asksReason && <ReasonInput value={reason} onChange={(text) => set({ reason: text })} />}
        {error !== undefined && <ErrorMessage error={error} title="The flag was not created" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={cancel}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} disabled={key === "" || wrongKey !== undefined}>
            {proposes ? "Propose" : "Create flag"}
          </Button>
        </Group>
      </Stack>
    </form>
  );
};

export const CreateFlag = ({ opened, ...form }: CreateFlagProps) => (
  <Modal opened={opened} onClose={form.onClose} title="Create flag" size="lg">
    <CreateFlagForm {...form} />
  </Modal>
);
