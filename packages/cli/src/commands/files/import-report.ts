// Prints the result of importing each flag from another product's file.
import type { Counts } from "../../flags-file/importers/convert.ts";
import type { Target } from "../../flags-file/plan/read-target.ts";
import { inOneLine, print } from "../../terminal/output.ts";

const countsText = ({ whole, withNotes, leftOut, segments }: Counts): string => {
  const total = whole + withNotes + leftOut;
  const flags = total === 1 ? "1 flag" : `${total} flags`;
  const parts = `${whole} imported whole, ${withNotes} with notes, ${leftOut} skipped`;
  const more = segments === 0 ? "" : `; ${segments === 1 ? "1 segment" : `${segments} segments`}`;
  return `${flags} in the file: ${parts}${more}.`;
};

export const printImportReport = ({ whole, notes, leftOut, remarks, counts }: Target): void => {
  if (counts === undefined) return;
  if (whole.length > 0) print(`Imported whole (${whole.length}): ${whole.join(", ")}`);
  if (notes.length > 0) {
    print(`Imported, with notes (${counts.withNotes}):`);
    for (const { key, note } of notes) print(inOneLine(`  ${key}: ${note}`));
  }
  if (leftOut.length > 0) {
    print(`Skipped (${leftOut.length}):`);
    for (const { name, reasons, suggestedKey } of leftOut) {
      const hint =
        suggestedKey === undefined ? "" : ` (--rename-invalid would make it "${suggestedKey}")`;
      const shown = name === "" ? "(without a name)" : name;
      print(inOneLine(`  ${shown}: ${reasons.join("; ")}${hint}`));
    }
  }
  for (const remark of remarks) print(inOneLine(remark));
  print(countsText(counts));
};
