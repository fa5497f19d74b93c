import type { LucideIcon } from "lucide-react";
import type { ComponentProps, MouseEvent, ReactNode } from "react";
import { Spinner } from "../feedback/spinner.tsx";
import { Tooltip } from "../tooltip/tooltip.tsx";
import { type ButtonSize, type ButtonVariant, buttonLook } from "./look.ts";

/** Properties of {@link Button}. */
export interface ButtonProps extends Omit<ComponentProps<"button">, "className" | "style"> {
  readonly variant?: ButtonVariant | undefined;
  readonly size?: ButtonSize | undefined;
  readonly icon?: LucideIcon | undefined;
  /**
   * True while the action is in progress: presses are ignored and `pendingText` is shown. False
   * reserves the width of `pendingText`, so that the button does not grow when the action starts.
   * Leave it undefined only if the button never shows `pendingText`.
   */
  readonly pending?: boolean | undefined;
  /** Text while the action is in progress. Default: "Saving…". */
  readonly pendingText?: string | undefined;
  /** Why the action is not allowed. If it is set, the button is disabled and stays focusable. */
  readonly disabledReason?: string | undefined;
  readonly children: ReactNode;
}

const stacked = "col-start-1 row-start-1 inline-flex items-center gap-2";

/** A button with text. Its default `type` is "button", so that it does not submit a form. */
export function Button({
  variant = "secondary",
  size = "medium",
  icon: Icon,
  pending,
  pendingText = "Saving…",
  disabledReason,
  onClick,
  type = "button",
  children,
  ...rest
}: ButtonProps) {
  const inert = pending === true || disabledReason !== undefined;
  const press = (event: MouseEvent<HTMLButtonElement>) => {
    if (inert) event.preventDefault();
    else onClick?.(event);
  };
  const idle = (
    <>
      {Icon === undefined ? null : <Icon aria-hidden />}
      {children}
    </>
  );
  const button = (
    <button
      {...rest}
      type={type}
      onClick={press}
      aria-disabled={inert || undefined}
      aria-busy={pending || undefined}
      // A screen reader in browse mode moves no focus, so it does not open the tooltip.
      aria-description={disabledReason}
      className={buttonLook(variant, size)}
    >
      {pending === undefined ? (
        idle
      ) : (
        // Both texts are rendered on top of each other, so that the button always has the width of
        // the longer one.
        <span className="grid justify-items-center">
          <span className={`${stacked} ${pending ? "invisible" : ""}`}>{idle}</span>
          <span className={`${stacked} ${pending ? "" : "invisible"}`} aria-hidden={!pending}>
            {pending ? <Spinner /> : null}
            {pendingText}
          </span>
        </span>
      )}
    </button>
  );
  if (disabledReason === undefined) return button;
  return (
    <Tooltip content={disabledReason} opensOnPress>
      {button}
    </Tooltip>
  );
}
