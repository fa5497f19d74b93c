/**
 * The states that have a shape of their own. Other states are shown with a question mark and their
 * name.
 */
export type KnownStatus =
  | "queued"
  | "listening"
  | "running"
  | "waiting"
  | "succeeded"
  | "failed"
  | "cancelled"
  | "unknown";

interface StatusMarkProps {
  readonly status: KnownStatus | (string & {});
  /**
   * `hidden` in a column of marks, which shows only their shapes. Screen readers still read the
   * word. Default: shown.
   */
  readonly label?: "shown" | "hidden";
  /** A word for this state, for example "Received". Default: the state itself. */
  readonly word?: string | undefined;
}

const colours: Record<KnownStatus, string> = {
  queued: "text-ink-3",
  listening: "text-ink-3",
  running: "text-tide",
  waiting: "text-brass",
  succeeded: "text-moss",
  failed: "text-flare",
  cancelled: "text-ink-3",
  unknown: "text-ink-3",
};

/**
 * A state as a shape, a word and a colour. It is not animated if the person prefers reduced motion.
 */
export function StatusMark({ status, label = "shown", word }: StatusMarkProps) {
  const known: KnownStatus = Object.hasOwn(colours, status) ? (status as KnownStatus) : "unknown";
  const text = word ?? capitalise(status);
  return (
    <span
      className={`inline-flex max-w-full min-w-0 items-center gap-1.5 align-middle ${colours[known]}`}
      title={label === "hidden" ? text : undefined}
    >
      <svg
        viewBox="0 0 16 16"
        width="16"
        height="16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
        className="shrink-0"
        aria-hidden="true"
      >
        <Shape status={known} />
      </svg>
      <span className={label === "hidden" ? "sr-only" : "truncate"}>{text}</span>
    </span>
  );
}

function Shape({ status }: { readonly status: KnownStatus }) {
  switch (status) {
    case "queued":
      return <circle cx="8" cy="8" r="6" strokeDasharray="2.2 2.51" strokeLinecap="butt" />;
    case "listening":
    case "running":
      return (
        <>
          <circle cx="8" cy="8" r="6" opacity="0.3" />
          <path d="M8 2a6 6 0 0 1 6 6" className="origin-center animate-arc" />
          <circle cx="8" cy="8" r="2" fill="currentColor" stroke="none" />
        </>
      );
    case "waiting":
      return (
        <>
          <rect x="2" y="2" width="12" height="12" rx="1" />
          <path d="M5.5 5h5L8 8l2.5 3h-5L8 8z" />
        </>
      );
    case "succeeded":
      return (
        <>
          <circle cx="8" cy="8" r="6" />
          <path d="m5.5 8.2 1.8 1.8 3.3-3.8" />
        </>
      );
    case "failed":
      return (
        <>
          <path
            d="M5.3 1.5h5.4l3.8 3.8v5.4l-3.8 3.8H5.3l-3.8-3.8V5.3z"
            fill="currentColor"
            stroke="none"
          />
          <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" className="stroke-sheet" />
        </>
      );
    case "cancelled":
      return (
        <>
          <circle cx="8" cy="8" r="6" />
          <path d="M5.5 8h5" />
        </>
      );
    case "unknown":
      return (
        <>
          <circle cx="8" cy="8" r="6" />
          <path d="M6.4 6.4a1.65 1.65 0 1 1 2.4 1.5c-.5.3-.8.6-.8 1.1M8 11v.1" />
        </>
      );
  }
}

function capitalise(status: string): string {
  return status.charAt(0).toUpperCase() + status.slice(1).replaceAll("_", " ");
}
