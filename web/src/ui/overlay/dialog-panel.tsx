import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { IconButton } from "../action/icon-button.tsx";
import { useFocusReturn } from "./use-focus-return.ts";

/** Properties of `Dialog`. */
export interface DialogProps {
  readonly open: boolean;
  /** Called with false when the person presses Esc, the close button, or outside of the dialog. */
  readonly onOpenChange: (open: boolean) => void;
  readonly title: string;
  readonly description?: ReactNode;
  readonly children?: ReactNode;
  /** Buttons, the primary one last. */
  readonly footer?: ReactNode;
  /**
   * Width: 400, 560 (the default) or 880 px. On phones every dialog is as wide as the screen, at
   * its bottom.
   */
  readonly size?: "small" | "medium" | "large";
  /**
   * False if Esc and presses outside must not close the dialog. The dialog then has no close button
   * either. If the value is false for longer than a request, the content or the footer needs a
   * button that closes the dialog. Default: true.
   */
  readonly dismissible?: boolean;
  readonly role?: "dialog" | "alertdialog";
}

const widths = { small: "sm:max-w-100", medium: "sm:max-w-140", large: "sm:max-w-220" };

/** The implementation of `Dialog`, loaded after the first paint. */
export function DialogPanel({ open, onOpenChange, ...sheet }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Sheet {...sheet} />
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * The content of the dialog. It is a component of its own, because `useFocusReturn` must be called
 * in a component that is mounted only while the dialog is open.
 */
function Sheet({
  title,
  description,
  children,
  footer,
  size = "medium",
  dismissible = true,
  role = "dialog",
}: Omit<DialogProps, "open" | "onOpenChange">) {
  const returnFocus = useFocusReturn();
  const keep = (event: Event) => {
    if (!dismissible) event.preventDefault();
  };
  return (
    <Radix.Overlay className="fixed inset-0 z-30 grid items-end overflow-y-auto bg-veil sm:items-start sm:px-4 sm:py-[12vh]">
      <Radix.Content
        role={role}
        onEscapeKeyDown={keep}
        onInteractOutside={keep}
        onCloseAutoFocus={returnFocus}
        {...(description === undefined ? { "aria-describedby": undefined } : {})}
        className={`relative mx-auto flex max-h-[92dvh] w-full min-w-0 animate-panel flex-col rounded-t-popup border border-rule bg-sheet shadow-popup focus:outline-none sm:max-h-[76dvh] sm:rounded-b-popup ${widths[size]}`}
      >
        <header className="flex items-start pt-4 pr-12 pb-3 pl-4">
          <div className="flex min-w-0 flex-1 flex-col gap-1">
            <Radix.Title className="text-section font-semibold break-words">{title}</Radix.Title>
            {description === undefined ? null : (
              <Radix.Description className="text-ink-2">{description}</Radix.Description>
            )}
          </div>
        </header>
        {children === undefined ? null : (
          <div className="min-h-0 flex-1 overflow-y-auto px-4 pt-1 pb-4">{children}</div>
        )}
        {footer === undefined ? null : (
          <footer className="flex flex-wrap justify-end gap-2 border-t border-rule px-4 py-3">
            {footer}
          </footer>
        )}
        {dismissible ? (
          // The close button is last in the document, so that the dialog focuses a field or another
          // button first.
          <span className="absolute top-3 right-3">
            <Radix.Close asChild>
              <IconButton icon={X} label="Close" size="small" tooltip={false} />
            </Radix.Close>
          </span>
        ) : null}
      </Radix.Content>
    </Radix.Overlay>
  );
}
