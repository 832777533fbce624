// The head of the history's chain, and whether it verifies: asked for once the page is there.
import { useQuery } from "@tanstack/react-query";
import { formatNumber } from "../format.ts";
import { useApi } from "../session.tsx";

/** As many digits as people compare. */
const shownDigits = 16;

export const HistoryProof = () => {
  const { management, environment } = useApi();
  const query = useQuery({
    queryKey: [environment.name, "history", "verification"],
    queryFn: ({ signal }) => management.verifyHistory({ signal }),
    staleTime: 60_000,
  });
  const found = query.data?.ok ? query.data.value : undefined;
  if (!found) return null;
  const { verified, head, entries, problems, problemCount } = found;
  return (
    <p className="dimmed" role={verified ? "status" : "alert"}>
      {verified
        ? `The history verifies: ${formatNumber(entries)} ${entries === 1 ? "entry" : "entries"}, none changed or removed afterwards. `
        : `The history does not verify, ${formatNumber(problemCount)} ${problemCount === 1 ? "break" : "breaks"}: ${problems[0]?.message}. `}
      Head <code title={head}>{head.slice(0, shownDigits)}…</code>
    </p>
  );
};
