// The link of an invitation, shown once: whoever invites hands it over.
import type { Invitation } from "@halyard/sdk/management";
import { Button, Group, Stack } from "@mantine/core";
import { SecretOnce } from "../components/display/secret-once.tsx";
import { Time } from "../components/display/time.tsx";

interface ShownLinkProps {
  readonly name: string;
  readonly link: Invitation;
  readonly onDone: () => void;
}

export const ShownLink = ({ name, link, onDone }: ShownLinkProps) => (
  <Stack gap="lg">
    <SecretOnce
      what="link"
      text={link.url}
      advice={`Halyard sends no e-mail: give the link to ${name} yourself, where nobody else reads it.`}
    />
    <p className="dimmed invitation-expiry">
      It works once. It expires <Time at={link.expiresAt} />.
    </p>
    <Group justify="flex-end">
      <Button onClick={onDone}>Done</Button>
    </Group>
  </Stack>
);
