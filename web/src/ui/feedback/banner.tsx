import type { ReactNode } from "react";
import { type Tone, ToneIcon } from "./tone.tsx";

interface BannerProps {
  readonly tone?: Exclude<Tone, "success">;
  readonly children: ReactNode;
  /** One button or link, which can follow a short text. It is not part of the status. */
  readonly action?: ReactNode;
}

const looks = {
  info: "bg-tide-soft",
  warning: "bg-brass-soft",
  failure: "bg-flare-soft",
};

/** A lasting notice on a page, for example "This agent is paused." */
export function Banner({ tone = "info", children, action }: BannerProps) {
  return (
    <div
      className={`flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 rounded-control px-3 py-1.5 ${looks[tone]}`}
    >
      {/* If the text would be narrower than 240 px (basis-60), the action moves below it. */}
      <div role="status" className="flex min-w-0 flex-1 basis-60 items-start gap-2">
        <ToneIcon tone={tone} />
        <div className="min-w-0 break-words">{children}</div>
      </div>
      {action}
    </div>
  );
}
