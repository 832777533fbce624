// The list of keyboard shortcuts, opened with `?` or its button.
import { ActionIcon, Kbd, Modal, Table, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { paletteKeys } from "../../palette/palette.tsx";
import { Icon } from "../display/icon.tsx";
import { usePageKeys } from "./page-keys.ts";

const keys = [
  [paletteKeys, "Go to any flag, segment, webhook, environment or page, or run an action"],
  ["/", "Search flags"],
  ["j or ↓", "Next flag"],
  ["k or ↑", "Previous flag"],
  ["Enter", "Open flag, or the first match of a search"],
  ["e", "Turn flag on or off"],
  ["x", "Select flag; with Shift all up to it"],
  ["c", "Create flag"],
] as const;

/** The places are the pages of the navigation, in their order. */
export const KeyboardHelp = ({ places }: { readonly places: readonly string[] }) => {
  const [opened, { open, close }] = useDisclosure(false);
  usePageKeys({ "?": open });
  const listed = [
    ...keys,
    [`Alt\u00a01\u00a0…\u00a0${places.length % 10}`, places.join(", ")],
    ["?", "Show this list"],
  ] as const;
  return (
    <>
      <Tooltip label="Keyboard shortcuts (?)">
        <ActionIcon
          className="only-wide"
          variant="subtle"
          color="gray"
          size="lg"
          aria-label="Keyboard shortcuts"
          onClick={open}
        >
          <Icon name="keyboard" />
        </ActionIcon>
      </Tooltip>
      <Modal opened={opened} onClose={close} title="Keyboard shortcuts" centered>
        <Table>
          <Table.Tbody>
            {listed.map(([key, does]) => (
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
