// Switches between the environments of the session, and signs in to another.
import { isProductionName } from "@halyard/core/environment-name";
import { Menu, UnstyledButton } from "@mantine/core";
import { useLocation } from "wouter";
import { signInFrom, switchTo } from "../../addresses.ts";
import { signOut } from "../../api.ts";
import { useApi, useSession } from "../../session.tsx";
import { labelOf, ProtectedMark } from "../display/environment-name.tsx";
import { Icon } from "../display/icon.tsx";
import { notifyError } from "../feedback/notify.tsx";

const roleLabels = {
  server: "read-only",
  viewer: "read-only",
  editor: "editor",
  admin: "admin",
  owner: "owner",
} as const;

export const EnvironmentSwitcher = () => {
  const { environment, may } = useApi();
  const { session, refresh } = useSession();
  const [path, navigate] = useLocation();
  const leave = async () => {
    const result = await signOut(session?.csrf ?? "", environment.name);
    if (!result.ok) notifyError(`Sign-out from ${environment.name} failed`, result.error);
    await refresh();
  };
  return (
    <Menu position="bottom-start" width={260} withinPortal>
      <Menu.Target>
        <UnstyledButton
          className="environment"
          data-production={isProductionName(environment.name) || undefined}
        >
          <span className="visually-hidden">Environment: </span>
          <span className="environment-words">
            <span className="environment-name">
              <span className="environment-label">{labelOf(environment)}</span>
              <ProtectedMark environment={environment} />
            </span>
            <span className="environment-role">
              {environment.label && `${environment.name}, `}
              {session?.user ? environment.role : `key ${environment.keyName}`}
              {roleLabels[environment.role] === "read-only" && ", read-only"}
            </span>
          </span>
          <Icon name="chevron" />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Environments</Menu.Label>
        <div className="environment-list">
          {session?.environments.map((each) => (
            <Menu.Item
              key={each.name}
              onClick={() => navigate(switchTo(each.name, path))}
              leftSection={
                <Icon name={isProductionName(each.name) ? "warning" : "flag"} size={16} />
              }
              rightSection={
                each.name === environment.name ? <Icon name="check" size={16} /> : undefined
              }
              {...(each.name === environment.name && { "aria-current": true })}
            >
              {each.label && `${each.label}: `}
              {each.name} ({roleLabels[each.role]})
              <ProtectedMark environment={each} />
            </Menu.Item>
          ))}
        </div>
        <Menu.Divider />
        {may("clients.read") && (
          <Menu.Item
            leftSection={<Icon name="program" size={16} />}
            onClick={() => navigate("/programs")}
          >
            Programs
          </Menu.Item>
        )}
        {may("environments.write") && (
          <Menu.Item
            leftSection={<Icon name="edit" size={16} />}
            onClick={() => navigate("/environments")}
          >
            Manage environments
          </Menu.Item>
        )}
        {!session?.user && (
          <Menu.Item
            leftSection={<Icon name="plus" size={16} />}
            onClick={() => navigate(signInFrom())}
          >
            Sign in to another environment
          </Menu.Item>
        )}
        {session !== undefined && !session.user && session.environments.length > 1 && (
          <Menu.Item leftSection={<Icon name="leave" size={16} />} onClick={() => void leave()}>
            Sign out of {environment.name}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
};
