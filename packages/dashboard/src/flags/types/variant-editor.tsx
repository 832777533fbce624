// A variant flag in the dashboard: its values by name, and which of them is given.
import { formatServe, type VariantFlag } from "@halyard/core/flags/variant";
import { RowsSkeleton } from "../../components/feedback/skeletons.tsx";
import { formatNumber } from "../../format.ts";
import { loadedLater } from "../../pages/load-page.tsx";
import type { TypeEditor } from "./type-editor.ts";

const Reach = ({ flag }: { readonly flag: VariantFlag }) => {
  const given = flag.enabled ? formatServe(flag.otherwise, formatNumber) : flag.off;
  return <span className="variant-given">{given}</span>;
};

export const variantEditor: TypeEditor<VariantFlag> = {
  label: "variant",
  explanation: "one of several texts, numbers or objects",
  usesTargetingKey: true,
  initial: {
    valueType: "string",
    variants: { first: "", second: "" },
    off: "first",
    otherwise: "first",
  },
  // The list of flags does without.
  MembersInput: loadedLater(
    async () => (await import("./variant-input.tsx")).VariantInput,
    <RowsSkeleton rows={3} />,
  ),
  Reach,
};
