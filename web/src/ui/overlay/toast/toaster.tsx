import { X } from "lucide-react";
import { Toast as Radix } from "radix-ui";
import { Button } from "../../action/button.tsx";
import { IconButton } from "../../action/icon-button.tsx";
import { ToneIcon } from "../../feedback/tone.tsx";
import type { ShownToast } from "./toasts.ts";

interface ToasterProps {
  readonly toasts: readonly ShownToast[];
  readonly remove: (id: number) => void;
}

/** Renders the toasts of the page. It is loaded after the first paint. */
export function Toaster({ toasts, remove }: ToasterProps) {
  return (
    <Radix.Provider swipeDirection="down" label="Message">
      {toasts.map((toast) => (
        <ToastLine key={toast.id} toast={toast} onClose={() => remove(toast.id)} />
      ))}
      <Radix.Viewport className="fixed right-4 bottom-[calc(var(--spacing-bars)+0.5rem)] left-4 z-50 flex flex-col gap-2 sm:left-auto sm:w-90 md:bottom-4" />
    </Radix.Provider>
  );
}

function ToastLine({ toast, onClose }: { toast: ShownToast; onClose: () => void }) {
  const { tone = "info", title, description, action } = toast;
  return (
    <Radix.Root
      type={tone === "failure" ? "foreground" : "background"}
      // Failures and toasts with an action must stay long enough to be read (WCAG 2.2.1). They stay
      // for 10 minutes, so that in practice the person closes them first.
      duration={tone === "failure" || action !== undefined ? 600_000 : 5_000}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      className="flex animate-panel items-start gap-2 rounded-popup border border-rule bg-sheet py-2 pr-2 pl-3 shadow-popup"
    >
      <span className="flex h-control-small items-center">
        <ToneIcon tone={tone} />
      </span>
      <div className="flex min-w-0 flex-1 flex-col py-1">
        <Radix.Title className="font-semibold break-words">{title}</Radix.Title>
        {description === undefined ? null : (
          <Radix.Description className="text-dense text-ink-2">{description}</Radix.Description>
        )}
      </div>
      {action === undefined ? null : (
        <Radix.Action asChild altText={action.label}>
          <Button size="small" onClick={action.onPress}>
            {action.label}
          </Button>
        </Radix.Action>
      )}
      <Radix.Close asChild>
        <IconButton icon={X} label="Close" size="small" tooltip={false} />
      </Radix.Close>
    </Radix.Root>
  );
}
