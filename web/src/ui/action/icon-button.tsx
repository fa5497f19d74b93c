import type { LucideIcon } from "lucide-react";
import type { ComponentProps, MouseEvent } from "react";
import { Tooltip } from "../tooltip/tooltip.tsx";
import { type ButtonSize, iconButtonLook } from "./look.ts";

interface IconButtonProps
  extends Omit<
    ComponentProps<"button">,
    "type" | "className" | "style" | "children" | "aria-label"
  > {
  readonly icon: LucideIcon;
  /** Accessible name and tooltip. It starts with a verb: "Copy the run id". */
  readonly label: string;
  /** Why the action is not allowed. If it is set, the button is disabled and stays focusable. */
  readonly disabledReason?: string | undefined;
  readonly size?: ButtonSize | undefined;
  /**
   * False to not show the label as a tooltip, because it is visible nearby or the button opens a
   * menu. A `disabledReason` is always shown. Default true.
   */
  readonly tooltip?: boolean | undefined;
}

/** A square button with an icon. Its label is shown as a tooltip. */
export function IconButton({
  icon: Icon,
  label,
  disabledReason,
  size = "medium",
  tooltip = true,
  onClick,
  ...rest
}: IconButtonProps) {
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (disabledReason !== undefined) event.preventDefault();
    else onClick?.(event);
  };
  const button = (
    <button
      {...rest}
      type="button"
      onClick={press}
      aria-label={label}
      aria-disabled={disabledReason !== undefined || undefined}
      aria-description={disabledReason}
      className={iconButtonLook(size)}
    >
      <Icon aria-hidden />
    </button>
  );
  if (!tooltip && disabledReason === undefined) return button;
  return (
    <Tooltip content={disabledReason ?? label} opensOnPress={disabledReason !== undefined}>
      {button}
    </Tooltip>
  );
}
