// The next page of a list whose newest entries come first.
import { Button } from "@mantine/core";

interface ShowOlderProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => Promise<unknown>;
  };
}

export const ShowOlder = ({ query }: ShowOlderProps) =>
  query.hasNextPage && (
    <Button
      mt="md"
      variant="default"
      loading={query.isFetchingNextPage}
      onClick={() => void query.fetchNextPage()}
    >
      Show older
    </Button>
  );
