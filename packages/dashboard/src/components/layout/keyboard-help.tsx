// The keys that the pages listen to, shown by `?` or its button.
import { ActionIcon, Kbd, Modal, Table, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { usePageKeys } from "../../page-keys.ts";
import { Icon } from "../display/icon.tsx";

const keys = [
  ["/", "search the flags"],
  ["j", "next flag"],
  ["k", "flag before"],
  ["Enter", "open the flag"],
  ["e", "turn the flag on or off"],
  ["c", "create a flag"],
  ["Alt 1 … 4", "flags, webhooks, keys, events"],
  ["?", "this list"],
] as const;

export const KeyboardHelp = () => {
  const [opened, { open, close }] = useDisclosure(false);
  usePageKeys({ "?": open });
  return (
    <>
      <Tooltip label="Keys (?)">
        <ActionIcon
          className="only-wide"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Show the keys"
          onClick={open}
        >
          <Icon name="keyboard" />
        </ActionIcon>
      </Tooltip>
      <Modal opened={opened} onClose={close} title="Keys" centered>
        <Table>
          <Table.Tbody>
            {keys.map(([key, does]) => (
              <Table.Tr key={key}>
                <Table.Th scope="row">
                  <Kbd>{key}</Kbd>
                </Table.Th>
                <Table.Td>{does}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Modal>
    </>
  );
};
