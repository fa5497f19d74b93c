import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

interface BadgeProps {
  readonly tone?: "neutral" | "tide" | "moss" | "flare" | "brass";
  readonly icon?: LucideIcon | undefined;
  readonly children: ReactNode;
}

const looks = {
  neutral: "border-rule text-ink-2",
  tide: "border-transparent bg-tide-soft text-tide",
  moss: "border-transparent bg-moss-soft text-moss",
  flare: "border-transparent bg-flare-soft text-flare",
  brass: "border-transparent bg-brass-soft text-brass",
};

/**
 * A word that describes something, for example a role or a version. For states of runs, use
 * StatusMark.
 */
export function Badge({ tone = "neutral", icon: Icon, children }: BadgeProps) {
  return (
    <span
      className={`inline-flex h-5 max-w-full items-center gap-1 rounded-control border px-1.5 text-label ${looks[tone]}`}
    >
      {Icon === undefined ? null : <Icon aria-hidden className="scale-75" />}
      <span className="truncate">{children}</span>
    </span>
  );
}
