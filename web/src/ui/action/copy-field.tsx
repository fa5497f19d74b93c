import { CopyButton } from "./copy-button.tsx";

interface CopyFieldProps {
  /** Name of the value, shown above it. */
  readonly label: string;
  readonly value: string;
  /** `line` (the default) truncates the text with an ellipsis, `wrap` shows all of it. */
  readonly variant?: "line" | "wrap";
}

/** A read-only value in a monospace font with a copy button, for example a URL. */
export function CopyField({ label, value, variant = "line" }: CopyFieldProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="text-label font-semibold text-ink-2">{label}</span>
      <div className="flex min-h-control items-center gap-1 rounded-control border border-rule bg-well py-px pl-2 pr-px">
        <span
          title={variant === "line" ? value : undefined}
          className={`min-w-0 flex-1 font-mono text-dense ${variant === "line" ? "truncate" : "py-1 break-all"}`}
        >
          {value}
        </span>
        <CopyButton text={value} what={label} variant={variant === "wrap" ? "button" : "icon"} />
      </div>
    </div>
  );
}
