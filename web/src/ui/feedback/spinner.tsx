interface SpinnerProps {
  /** Accessible name. Without it, text beside the spinner must say what is loading. */
  readonly label?: string | undefined;
}

/** A rotating arc. It does not rotate if the person prefers reduced motion. */
export function Spinner({ label }: SpinnerProps) {
  return (
    <span role={label === undefined ? undefined : "status"} className="inline-flex shrink-0">
      <svg viewBox="0 0 16 16" width="16" height="16" fill="none" aria-hidden="true">
        <circle cx="8" cy="8" r="6" className="stroke-rule" strokeWidth="1.75" />
        <path
          d="M8 2a6 6 0 0 1 6 6"
          stroke="currentColor"
          strokeWidth="1.75"
          strokeLinecap="round"
          className="origin-center animate-arc"
        />
      </svg>
      {label === undefined ? null : <span className="sr-only">{label}</span>}
    </span>
  );
}
