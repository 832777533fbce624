// What changed in a webhook or a key, field by field, in words as well as in colour.

type Fields = Readonly<Record<string, unknown>>;

interface FieldDiffProps {
  readonly before: Fields | null;
  readonly after: Fields | null;
}

const asText = (value: unknown): string | undefined => {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" ? value : JSON.stringify(value);
};

/** Told beside the difference already. */
const told = new Set(["id", "createdAt"]);

export const FieldDiff = ({ before, after }: FieldDiffProps) => {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  const changes = [...names]
    .filter((name) => !told.has(name))
    .map((name) => ({ name, old: asText(before?.[name]), young: asText(after?.[name]) }))
    .filter(({ old, young }) => old !== young);
  if (changes.length === 0) return null;
  return (
    <dl className="diff">
      {changes.map(({ name, old, young }) => (
        <div key={name} className="diff-line">
          <dt>{name}</dt>
          <dd>
            {old !== undefined && <del className="diff-before">{old}</del>}
            {old !== undefined && young !== undefined && <span aria-hidden="true"> → </span>}
            {young !== undefined && <ins className="diff-after">{young}</ins>}
          </dd>
        </div>
      ))}
    </dl>
  );
};
