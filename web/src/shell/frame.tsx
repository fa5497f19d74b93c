import { useState } from "react";
import { useWorkspace } from "../data/index.ts";
import { HeaderEnd, lazyPart, TimeZoneProvider } from "../ui/index.ts";
import { GuardedScreen } from "./guarded-screen.tsx";
import { useKeys } from "./keyboard/use-keys.ts";
import { BottomBar } from "./navigation/bottom-bar.tsx";
import { HeaderLamp } from "./navigation/header-lamp.tsx";
import { Navigation } from "./navigation/side-bar.tsx";
import { ResetNotice } from "./reset-notice.tsx";
import { mainId } from "./use-focus-on-navigation.ts";
import { useSignOut } from "./use-sign-out.tsx";

const KeysDialog = lazyPart(async () => (await import("./keyboard/keys-dialog.tsx")).KeysDialog);
const PaletteDialog = lazyPart(
  async () => (await import("./keyboard/palette-dialog.tsx")).PaletteDialog,
);

interface FrameProps {
  readonly resetReason: string | undefined;
  readonly dismissReset: () => void;
}

/**
 * The frame of all screens of a workspace. The navigation is at the left, and below a width of 768
 * px at the bottom.
 */
export function Frame({ resetReason, dismissReset }: FrameProps) {
  const { timeZone } = useWorkspace();
  const [open, setOpen] = useState<"palette" | "keys">();
  const openPalette = () => setOpen("palette");
  const showKeys = () => setOpen("keys");
  const close = () => setOpen(undefined);
  const { signOut, question } = useSignOut();
  useKeys({ openPalette, showKeys });
  return (
    <TimeZoneProvider zone={timeZone}>
      <a
        href={`#${mainId}`}
        onClick={(event) => {
          // Without this, the router would treat the fragment of the skip link as a navigation.
          event.preventDefault();
          document.getElementById(mainId)?.focus();
        }}
        className="fixed top-2 left-2 z-50 -translate-y-16 rounded-control bg-tide px-3 py-2 font-semibold text-on-tide focus:translate-y-0"
      >
        Skip to the content
      </a>
      <div className="flex min-h-dvh flex-col md:flex-row">
        <Navigation openPalette={openPalette} showKeys={showKeys} signOut={signOut} />
        <main id={mainId} tabIndex={-1} className="min-w-0 flex-1 pb-bars outline-none md:pb-0">
          <ResetNotice reason={resetReason} dismiss={dismissReset} />
          <HeaderEnd value={<HeaderLamp />}>
            <GuardedScreen />
          </HeaderEnd>
        </main>
        <BottomBar openPalette={openPalette} showKeys={showKeys} signOut={signOut} />
      </div>
      {open === "keys" ? <KeysDialog close={close} /> : null}
      {open === "palette" ? (
        <PaletteDialog close={close} showKeys={showKeys} signOut={signOut} />
      ) : null}
      {question}
    </TimeZoneProvider>
  );
}
