// Previews that somebody asks for: the operations are tried out, and nothing is written.
import type { Planned } from "../../domain/change-requests/operation.ts";
import type { Caller } from "../../domain/principal.ts";
import { type Failure, fail, ok, type Result } from "../../errors.ts";
import type { Changes } from "../change-requests/changes.ts";
import type { RefusedOperation } from "../change-requests/operations.ts";
import { type ChangePreview, type PreviewDecisions, previewFor } from "./preview.ts";

/** `describe` says which of the operations was refused. */
export type Previews = (
  caller: Caller,
  planned: readonly Planned[],
  describe: (refused: RefusedOperation) => Failure,
) => Promise<Result<ChangePreview>>;

/** So many may wait for their turn: changes under a limit on flips wait behind them. */
const maxAsked = 16;

const busy = fail({
  code: "UNAVAILABLE",
  message: "Too many previews were asked for at once; try again.",
});

export const createPreviews = (changes: Changes, previewDecisions: PreviewDecisions): Previews => {
  let asked = 0;
  return async ({ environment, actor, role }, planned, describe) => {
    if (asked === maxAsked) return busy;
    asked += 1;
    try {
      const tried = await changes.tryOut(environment.id, actor, planned);
      if (!tried.ok) return fail(describe(tried.refused));
      const preview = await previewDecisions(environment, tried.value.decisions);
      return preview.ok ? ok(previewFor(role, preview.value)) : preview;
    } finally {
      asked -= 1;
    }
  };
};
