import {
  formatBytes,
  formatDuration,
  formatMoney,
  formatTokens,
  shortenId,
} from "../../format/index.ts";

function Fact({ text, title }: { readonly text: string; readonly title?: string | undefined }) {
  const look = text === "unknown" ? "text-ink-3" : "font-mono text-dense [word-spacing:-0.25em]";
  return (
    <span title={title} className={`whitespace-nowrap ${look}`}>
      {text}
    </span>
  );
}

/** A duration in ms: `3.41 s`; null is "unknown". */
export function Duration({ ms }: { readonly ms: number | null | undefined }) {
  return <Fact text={formatDuration(ms)} />;
}

function Estimated({ text }: { readonly text: string }) {
  return (
    <span
      title="Estimated"
      className="font-mono text-dense whitespace-nowrap underline decoration-dotted underline-offset-3 [word-spacing:-0.25em]"
    >
      {`~${text}`}
    </span>
  );
}

interface MoneyProps {
  /** Millionths of a dollar, as `cost_micros` of the API; null or undefined if unknown. */
  readonly micros: number | null | undefined;
  /** Marks an estimate with `~` and a dotted underline. */
  readonly estimated?: boolean | undefined;
  /** Why the amount is unknown, shown under the pointer. */
  readonly unknownReason?: string | undefined;
}

/** An amount: `$0.0184`; null is "unknown", never $0. */
export function Money({ micros, estimated, unknownReason }: MoneyProps) {
  const text = formatMoney(micros);
  if (text === "unknown") return <Fact text={text} title={unknownReason} />;
  if (!estimated) return <Fact text={text} />;
  return <Estimated text={text} />;
}

interface TokensProps {
  readonly input: number | null | undefined;
  readonly output: number | null | undefined;
  /** Marks an estimate, as of `Money`. */
  readonly estimated?: boolean | undefined;
}

/** Tokens in and out: `4,211 in · 388 out`. Null or undefined counts are left out. */
export function Tokens({ input, output, estimated }: TokensProps) {
  const text = formatTokens(input, output);
  return estimated && text !== "unknown" ? <Estimated text={text} /> : <Fact text={text} />;
}

/** A size: `2.1 KiB`; null is "unknown". */
export function ByteSize({ bytes }: { readonly bytes: number | null | undefined }) {
  return <Fact text={formatBytes(bytes)} />;
}

/** An id, shortened in its middle. Hover shows the whole id. */
export function Id({ value }: { readonly value: string }) {
  return <Fact text={shortenId(value)} title={value} />;
}
