// Recovery codes, shown once: to copy, or to save as a file.
import { Button, Group, Stack, Text } from "@mantine/core";
import { CopyButton } from "../components/display/copy-button.tsx";
import { Icon } from "../components/display/icon.tsx";
import { saveFile } from "../components/display/save-file.ts";
import "../styles/parts/secret-once.css";

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}

export const ShownRecoveryCodes = ({ codes, onDone }: RecoveryCodesProps) => {
  const text = codes.join("\n");
  const save = () =>
    saveFile(
      new Blob([`Recovery codes of Halyard at ${location.host}\n\n${text}\n`], {
        type: "text/plain;charset=utf-8",
      }),
      "halyard-recovery-codes.txt",
    );
  return (
    <Stack gap="md">
      <div className="secret-once-warning">
        <Icon name="warning" />
        <div>
          <strong>Shown only once</strong>
          <Text size="sm">
            Each of these codes signs you in once without your authenticator app. Keep them where
            you find them without your phone, such as a password manager.
          </Text>
        </div>
      </div>
      <ul className="recovery-codes mono" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <Group gap="xs">
        <CopyButton text={text} what="recovery codes" wide />
        <Button variant="light" onClick={save}>
          Download
        </Button>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onDone}>I saved the codes</Button>
      </Group>
    </Stack>
  );
};
