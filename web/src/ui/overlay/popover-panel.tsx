import { Popover as Radix } from "radix-ui";
import type { ComponentProps, ReactElement, ReactNode } from "react";
import { keepFocus } from "./use-focus-return.ts";

/** Properties of `PopoverFrame`. */
export interface PopoverFrameProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<ComponentProps<"button">>;
  /** Accessible name. */
  readonly label: string;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** The content. It is mounted only while the popover is open. */
  readonly children: ReactNode;
  /**
   * `panel` is the default; `editor` is for the value of a filter; `list` is as wide as its button,
   * and modal.
   */
  readonly look?: "panel" | "editor" | "list";
  readonly align?: "start" | "end";
}

const looks = {
  panel: "min-w-48 max-w-96 overflow-auto p-2",
  editor: "min-w-48 max-w-80 overflow-auto p-1",
  list: "flex w-(--radix-popover-trigger-width) min-w-60 flex-col",
};

const heights = {
  panel: "max-h-(--radix-popover-content-available-height)",
  editor: "max-h-(--radix-popover-content-available-height)",
  list: "max-h-[min(20rem,var(--radix-popover-content-available-height))]",
};

/** The implementation of `PopoverFrame`, loaded after the first paint. */
export function PopoverPanel(props: PopoverFrameProps) {
  const { trigger, label, open, onOpenChange, children, look = "panel", align = "start" } = props;
  return (
    // A list is modal, because otherwise a dialog around it would prevent it from scrolling.
    <Radix.Root open={open} onOpenChange={onOpenChange} modal={look === "list"}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          aria-label={label}
          onCloseAutoFocus={keepFocus}
          align={align}
          sideOffset={look === "editor" ? 6 : 4}
          collisionPadding={8}
          className={`z-40 animate-popup rounded-popup border border-rule bg-sheet shadow-popup ${heights[look]} ${looks[look]}`}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
