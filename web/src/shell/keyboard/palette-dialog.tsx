import { Dialog } from "radix-ui";
import { useFocusReturn } from "../../ui/index.ts";
import { Palette } from "./palette.tsx";

interface PaletteDialogProps {
  readonly close: () => void;
  readonly showKeys: () => void;
  readonly signOut: () => void;
}

/** The command palette in a dialog. The dialog's title is visible only to assistive technology. */
export function PaletteDialog({ close, showKeys, signOut }: PaletteDialogProps) {
  const returnFocus = useFocusReturn();
  return (
    <Dialog.Root open onOpenChange={close}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-30 bg-veil" />
        <Dialog.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="fixed inset-x-2 top-2 z-40 mx-auto flex max-h-[70dvh] max-w-140 animate-popup flex-col overflow-hidden rounded-popup border border-rule bg-sheet shadow-popup outline-none sm:top-[12vh]"
        >
          <Dialog.Title className="sr-only">Find, go and act</Dialog.Title>
          <Palette close={close} showKeys={showKeys} signOut={signOut} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
