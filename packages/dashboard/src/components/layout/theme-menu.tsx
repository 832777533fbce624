// The themes, and the menu that chooses one.
import { ActionIcon, Menu, useMantineColorScheme } from "@mantine/core";
import { Icon } from "../display/icon.tsx";

export const themes = [
  { value: "auto", label: "System", icon: "screen" },
  { value: "light", label: "Light", icon: "sun" },
  { value: "dark", label: "Dark", icon: "moon" },
] as const;

export const ThemeMenu = () => {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const current = themes.find(({ value }) => value === colorScheme) ?? themes[0];
  return (
    <Menu position="top-start" withinPortal>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size="lg" aria-label={`Theme: ${current.label}`}>
          <Icon name={current.icon} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {themes.map(({ value, label, icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon name={icon} />}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
};
