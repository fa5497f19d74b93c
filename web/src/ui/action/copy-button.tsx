import { Check, Copy, X } from "lucide-react";
import type { MouseEvent } from "react";
import { Tooltip } from "../tooltip/tooltip.tsx";
import { buttonLook, iconButtonLook } from "./look.ts";
import { useCopy } from "./use-copy.ts";

interface CopyButtonProps {
  /** The text to copy, or a function that returns it when the button is pressed. */
  readonly text: string | (() => string | Promise<string>);
  /** What is copied, for the accessible name: "run id" gives "Copy run id". */
  readonly what: string;
  /** `icon` (the default) beside values, `button` where copying is the main action. */
  readonly variant?: "icon" | "button";
}

const icons = { idle: Copy, copied: Check, failed: X };

/** Copies a text and announces the result. */
export function CopyButton({ text, what, variant = "icon" }: CopyButtonProps) {
  const [state, copy] = useCopy();
  const Icon = icons[state];
  const press = async (event: MouseEvent<HTMLButtonElement>) => {
    const near = event.currentTarget;
    await copy(typeof text === "string" ? text : await text(), near);
  };
  const results = {
    idle: `Copy ${what}`,
    copied: "Copied",
    failed: "Not copied. Select the text and copy it.",
  };
  const look = variant === "icon" ? iconButtonLook("small") : buttonLook("secondary", "medium");
  // A button with a visible text needs a tooltip only to explain a failure.
  const isOpen = variant === "button" ? state === "failed" : state === "failed" || undefined;
  const colour = { idle: "", copied: "text-moss", failed: "text-flare" }[state];
  return (
    <span className="inline-flex">
      <Tooltip content={results[state]} open={isOpen}>
        <button type="button" onClick={press} aria-label={`Copy ${what}`} className={look}>
          <Icon aria-hidden className={colour} />
          {variant === "button" ? (state === "copied" ? "Copied" : "Copy") : null}
        </button>
      </Tooltip>
      {/* A modal dialog silences live regions outside of it. So this live region is beside the
          button, which can be in a dialog. */}
      <span role="status" className="sr-only">
        {state === "idle" ? "" : results[state]}
      </span>
    </span>
  );
}
