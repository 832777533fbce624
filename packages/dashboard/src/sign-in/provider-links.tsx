// One button for each provider; the browser goes there and comes back signed in.
import { Button, Stack } from "@mantine/core";
import { type Provider, providerAddress } from "./sign-in-calls.ts";

interface ProviderLinksProps {
  readonly providers: readonly Provider[];
  /** The path to come back to. */
  readonly to: string;
  readonly invitation?: string;
}

export const ProviderLinks = ({ providers, to, invitation }: ProviderLinksProps) => (
  <Stack gap="xs" mt="lg">
    {providers.map((provider) => (
      <Button
        key={provider.id}
        component="a"
        href={providerAddress(provider, { to, ...(invitation !== undefined && { invitation }) })}
        variant="default"
        fullWidth
      >
        Continue with {provider.name}
      </Button>
    ))}
  </Stack>
);
