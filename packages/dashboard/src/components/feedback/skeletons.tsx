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
  <div className="page-skeleton">
    <Skeleton height={34} width="min(18rem, 60%)" mb="xl" />
    <RowsSkeleton />
  </div>
);
