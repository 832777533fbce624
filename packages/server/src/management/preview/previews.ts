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

export const createPreviews =
  (changes: Changes, previewDecisions: PreviewDecisions): Previews =>
  async ({ environment, actor, role }, planned, describe) => {
    const tried = await changes.tryOut(environment.id, actor, planned);
    if (!tried.ok) return fail(describe(tried.refused));
    const preview = await previewDecisions(environment, tried.value.decisions);
    return preview.ok ? ok(previewFor(role, preview.value)) : preview;
  };
