// The person who is signed in: their account, and the way out.
import { Menu, UnstyledButton } from "@mantine/core";
import { useLocation } from "wouter";
import { useSession } from "../../session.tsx";
import "../../styles/parts/user-menu.css";
import { Icon } from "../display/icon.tsx";
import { useSignOut } from "./sign-out.tsx";

export const UserMenu = () => {
  const { session } = useSession();
  const [, navigate] = useLocation();
  const leave = useSignOut();
  const user = session?.user;
  if (!user) return null;
  return (
    <Menu position="top-start" width={220} withinPortal>
      <Menu.Target>
        <UnstyledButton className="user-menu" title={user.email ?? undefined}>
          <Icon name="person" />
          <span className="user-menu-name">
            <span className="visually-hidden">Signed in as </span>
            {user.name}
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<Icon name="person" size={16} />}
          onClick={() => navigate("/account")}
        >
          Account
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="leave" size={16} />} onClick={() => void leave()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
