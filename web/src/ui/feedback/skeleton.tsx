interface SkeletonProps {
  /** `text` (the default) has the height of a line of body text, `block` fills its container. */
  readonly variant?: "text" | "block";
  /** Share of the width, in percent. Default: 100. */
  readonly width?: 25 | 40 | 60 | 80 | 100;
  /** `end` where numbers will be shown. Default: start. */
  readonly align?: "start" | "end" | undefined;
}

const widths = { 25: "w-1/4", 40: "w-2/5", 60: "w-3/5", 80: "w-4/5", 100: "w-full" };

/**
 * A placeholder for content that is loading. It becomes visible only after 150 ms, so that it does
 * not flash with a fast response.
 */
export function Skeleton({ variant = "text", width = 100, align = "start" }: SkeletonProps) {
  const bar = `animate-late rounded-bar bg-rule ${widths[width]}`;
  return (
    <span
      aria-hidden="true"
      data-skeleton=""
      className={`flex items-center ${align === "end" ? "justify-end" : ""} ${variant === "text" ? "h-5" : "size-full"}`}
    >
      <span className={`${bar} ${variant === "text" ? "h-2.5" : "h-full"} opacity-70`} />
    </span>
  );
}
