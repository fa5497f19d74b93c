interface MarkProps {
  /** Width and height in px. Default 20. The drawing is optimized for 16 and 32. */
  readonly size?: number;
  /** Accessible name. Without one, screen readers ignore the mark. */
  readonly label?: string;
}

/** Beckon's mark: a lower-case b with two short beams from its top right. */
export function Mark({ size = 20, label }: MarkProps) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      strokeWidth="2"
      className="shrink-0"
      role={label === undefined ? undefined : "img"}
      aria-label={label}
      aria-hidden={label === undefined}
    >
      <path d="M3 1V15" stroke="currentColor" />
      <circle cx="6.5" cy="10.5" r="3.5" stroke="currentColor" />
      <path d="M7.5 4.1 10.5 1.6M10.6 6.6 14.4 5.4" className="stroke-tide" strokeWidth="1.75" />
    </svg>
  );
}
