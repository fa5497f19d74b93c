import { Tooltip as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";

interface TooltipProps {
  readonly content: ReactNode;
  /** One element that can have focus. */
  readonly children: ReactElement;
  readonly side?: "top" | "right" | "bottom" | "left";
  /**
   * Opens or closes the tooltip, regardless of hover and focus. Default: hover and focus open it.
   */
  readonly open?: boolean | undefined;
}

/** A short explanation on hover and focus. Needs {@link UiProvider} above. */
export function Tooltip({ content, children, side = "top", open }: TooltipProps) {
  return (
    <Radix.Root {...(open === undefined ? {} : { open })}>
      <Radix.Trigger
        asChild
        onFocus={(event) => {
          // When a dialog opens and moves the focus, the tooltip must not open. Only a visible
          // focus opens it.
          if (!event.currentTarget.matches(":focus-visible")) event.preventDefault();
        }}
      >
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-w-80 animate-popup rounded-control bg-ink px-2 py-1 text-label text-page"
        >
          {content}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
