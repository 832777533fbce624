// What changed in a webhook, a key or the rights of a person, field by field, in text as well as in color.

type Fields = Readonly<Record<string, unknown>>;

interface FieldDiffProps {
  readonly before: Fields | null;
  readonly after: Fields | null;
}

const asText = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.join(", ");
  // A person, whose id nobody knows.
  if (typeof value === "object" && "name" in value) return String(value.name);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** Shown next to the difference already. */
const shownElsewhere = new Set(["id", "createdAt"]);

export const FieldDiff = ({ before, after }: FieldDiffProps) => {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changes = [...names]
    .filter((name) => !shownElsewhere.has(name))
    .map((name) => ({ name, oldText: asText(before?.[name]), newText: asText(after?.[name]) }))
    .filter(({ oldText, newText }) => oldText !== newText);
  if (changes.length === 0) return null;
  return (
    <dl className="diff">
      {changes.map(({ name, oldText, newText }) => (
        <div key={name} className="diff-line">
          <dt>{name}</dt>
          <dd>
            {oldText !== undefined && <del className="diff-before">{oldText}</del>}
            {oldText !== undefined && newText !== undefined && <span aria-hidden="true"> → </span>}
            {newText !== undefined && <ins className="diff-after">{newText}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
};
