import {
  formatBytes,
  formatDuration,
  formatMoney,
  formatTokens,
  shortenId,
} from "../../format/index.ts";
import { Estimated } from "./estimated.tsx";

interface ValueTextProps {
  readonly text: string;
  readonly title?: string | undefined;
  readonly estimated?: boolean | undefined;
}

function ValueText({ text, title, estimated }: ValueTextProps) {
  const isKnown = text !== "unknown";
  const look = isKnown ? "font-mono text-dense [word-spacing:-0.25em]" : "text-ink-3";
  return (
    <span title={title} className={`whitespace-nowrap ${look}`}>
      {estimated && isKnown ? <Estimated text={text} /> : text}
    </span>
  );
}

/** A duration in ms: `3.41 s`; null is "unknown". */
export function Duration({ ms }: { readonly ms: number | null | undefined }) {
  return <ValueText text={formatDuration(ms)} />;
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
  const title = text === "unknown" ? unknownReason : undefined;
  return <ValueText text={text} title={title} estimated={estimated} />;
}

interface TokensProps {
  readonly input: number | null | undefined;
  readonly output: number | null | undefined;
  /** Marks an estimate, as of `Money`. */
  readonly estimated?: boolean | undefined;
}

/** Tokens in and out: `4,211 in · 388 out`. Null or undefined counts are left out. */
export function Tokens({ input, output, estimated }: TokensProps) {
  return <ValueText text={formatTokens(input, output)} estimated={estimated} />;
}

/** A size: `2.1 KiB`; null is "unknown". */
export function ByteSize({ bytes }: { readonly bytes: number | null | undefined }) {
  return <ValueText text={formatBytes(bytes)} />;
}

/** An id, shortened in its middle. Hover shows the whole id. */
export function Id({ value }: { readonly value: string }) {
  return <ValueText text={shortenId(value)} title={value} />;
}
