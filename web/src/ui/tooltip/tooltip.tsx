import { type ComponentProps, cloneElement, type ReactElement, type ReactNode, useId } from "react";
import { createPortal } from "react-dom";
import { TooltipPopup } from "./tooltip-popup.tsx";
import { useTooltip } from "./use-tooltip.ts";

interface TooltipProps {
  readonly content: ReactNode;
  /** One element that can have focus, or a label with its input. */
  readonly children: ReactElement<ComponentProps<"button">>;
  /**
   * Opens or closes the tooltip, regardless of hover and focus. Default: hover and focus open it.
   */
  readonly open?: boolean | undefined;
  /**
   * True if a press also opens the tooltip. A finger cannot hover, and a touch may not move the
   * focus. Default: a press closes the tooltip.
   */
  readonly opensOnPress?: boolean | undefined;
}

/**
 * A short explanation on hover and focus. Radix's tooltip is not used: every page needs a tooltip
 * at once, and Radix's code with its positioning would be a tenth of the first load.
 */
export function Tooltip({ content, children, open, opensOnPress = false }: TooltipProps) {
  const id = useId();
  const tooltip = useTooltip();
  const { close, anchor, ofElement, ofTooltip } = tooltip;
  const isShown = open ?? tooltip.isOpen;
  const { props } = children;
  return (
    <>
      {cloneElement(children, {
        onPointerMove: both(props.onPointerMove, ofElement.onPointerMove),
        onPointerLeave: both(props.onPointerLeave, ofElement.onPointerLeave),
        onPointerDown: both(props.onPointerDown, ofElement.onPointerDown),
        onFocus: both(props.onFocus, ofElement.onFocus),
        onBlur: both(props.onBlur, ofElement.onBlur),
        onClick: both(props.onClick, opensOnPress ? tooltip.open : close),
        ...(isShown ? { "aria-describedby": id } : {}),
      })}
      {isShown
        ? createPortal(
            <TooltipPopup id={id} anchor={anchor} close={close} {...ofTooltip}>
              {content}
            </TooltipPopup>,
            document.body,
          )
        : null}
    </>
  );
}

/** Returns a handler that calls the element's own handler first. */
const both =
  <Event,>(first: ((event: Event) => void) | undefined, second: (event: Event) => void) =>
  (event: Event) => {
    first?.(event);
    second(event);
  };
