interface PairsProps {
  /** Names and values. A name can be given several times. */
  readonly pairs: readonly (readonly [name: string, value: string])[];
}

/** The headers or query parameters of a request or response, one per line. */
export function Pairs({ pairs }: PairsProps) {
  if (pairs.length === 0) return <p className="text-ink-3">None</p>;
  return (
    <dl className="grid min-w-0 grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-3 gap-y-1 font-mono text-dense">
      {pairs.map(([name, value], index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the pairs of a request do not change
        <div key={`${index} ${name}`} className="contents">
          <dt className="min-w-0 break-all text-ink-3">{name}</dt>
          <dd className="min-w-0 break-all">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
