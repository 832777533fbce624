// Placeholders for pages and lists that are loading.
import { Skeleton, Stack } from "@mantine/core";

export const RowsSkeleton = ({ rows = 6 }: { readonly rows?: number }) => (
  <Stack gap="sm" role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => `row-${index}`).map((key) => (
      <Skeleton key={key} height={44} />
    ))}
  </Stack>
);

export const PageSkeleton = () => (
  <>
    <Skeleton height={34} width="min(18rem, 60%)" mb="xl" />
    <RowsSkeleton />
  </>
);

/** Before the session is known: the page is where it will be. */
export const ShellSkeleton = () => (
  <div className="shell">
    <div className="shell-side" />
    <main className="shell-main">
      <PageSkeleton />
    </main>
  </div>
);
