import { type ComponentProps, type ReactElement, type ReactNode, useState } from "react";
import { PopoverFrame } from "./popover-frame.tsx";

interface PopoverProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<ComponentProps<"button">>;
  /** Accessible name. */
  readonly label: string;
  /** The content, or a function that returns it and gets the function `close`. */
  readonly children: ReactNode | ((close: () => void) => ReactNode);
  readonly align?: "start" | "end";
}

/** A small panel beside its button. When it closes, the focus returns to the button. */
export function Popover({ children, ...rest }: PopoverProps) {
  const [open, setOpen] = useState(false);
  return (
    <PopoverFrame {...rest} open={open} onOpenChange={setOpen}>
      {typeof children === "function" ? children(() => setOpen(false)) : children}
    </PopoverFrame>
  );
}
