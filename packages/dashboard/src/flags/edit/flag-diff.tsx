// What changed in a flag, line by line, in text as well as in color.
import type { Flag } from "@halyard/core/flags/registry";
import { diffOf } from "./flag-lines.ts";

const Value = ({ kind, text }: { readonly kind: "before" | "after"; readonly text: string }) =>
  kind === "before" ? (
    <del className="diff-before">{text}</del>
  ) : (
    <ins className="diff-after">{text}</ins>
  );

interface FlagDiffProps {
  readonly before: Flag | null;
  readonly after: Flag | null;
}

export const FlagDiff = ({ before, after }: FlagDiffProps) => (
  <dl className="diff">
    {diffOf(before, after).map((change) => (
      <div key={change.field} className="diff-line">
        <dt>{change.field}</dt>
        <dd>
          {change.before !== undefined && <Value kind="before" text={change.before} />}
          {change.before !== undefined && change.after !== undefined && (
            <span aria-hidden="true"> → </span>
          )}
          {change.after !== undefined && <Value kind="after" text={change.after} />}
        </dd>
      </div>
    ))}
  </dl>
);
