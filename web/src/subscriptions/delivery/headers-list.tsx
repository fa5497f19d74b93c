/** Headers of a request or response, one per line. */
export function HeadersList({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return <p className="text-ink-3">None</p>;
  return (
    <dl className="grid min-w-0 grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-3 gap-y-1 font-mono text-dense">
      {entries.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="min-w-0 break-all text-ink-3">{name}</dt>
          <dd className="min-w-0 break-all">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
