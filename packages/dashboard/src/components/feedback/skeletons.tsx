// Placeholders for pages and lists that are loading.
import { Skeleton, Stack } from "@mantine/core";

interface RowsSkeletonProps {
  readonly rows?: number;
  /** Of a row, as it will be. */
  readonly height?: number;
}

const gap = 12;

export const RowsSkeleton = ({ rows = 6, height = 56 }: RowsSkeletonProps) => (
  <Stack gap={gap} role="status" aria-label="Loading">
    {Array.from({ length: rows }, (_, index) => `row-${index}`).map((key) => (
      <Skeleton key={key} height={height - gap} />
    ))}
  </Stack>
);

/** A line of text and the plot below it. */
export const ChartSkeleton = () => (
  <Stack gap="md" role="status" aria-label="Loading">
    <Skeleton height={20} width="min(24rem, 80%)" />
    <Skeleton height={176} />
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
