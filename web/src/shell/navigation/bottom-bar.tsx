import { useLocation } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { useLiveStatus } from "../../live/index.ts";
import { Anchor } from "../../ui/index.ts";
import { isCurrent } from "./item-link.tsx";
import { useNavigation } from "./items.ts";
import { LampShape } from "./lamp-shape.tsx";
import { LiveStrip } from "./live-strip.tsx";
import { MoreDialog } from "./more-dialog.tsx";

const entry =
  "flex min-w-0 flex-1 flex-col items-center justify-center gap-1 text-ink-2 text-label aria-[current]:font-semibold aria-[current]:text-tide";

interface BottomBarProps {
  readonly openPalette: () => void;
  readonly showKeys: () => void;
  readonly signOut: () => void;
}

/**
 * The navigation below a width of 768 px. Entries for which there is no space are behind "More".
 */
export function BottomBar({ openPalette, showKeys, signOut }: BottomBarProps) {
  const { pathname } = useLocation();
  const all = useNavigation();
  const items = all.filter(({ group }) => group === "work");
  const isInMore = all.some((item) => item.group !== "work" && isCurrent(item, pathname));
  const { state } = useLiveStatus();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <LiveStrip />
      <nav
        aria-label="Main"
        className="fixed inset-x-0 bottom-0 z-20 flex h-14 border-rule border-t bg-sheet md:hidden"
      >
        {items.map((item) => (
          <Anchor
            key={item.href}
            href={item.href}
            aria-current={isCurrent(item, pathname) ? "page" : undefined}
            className={entry}
          >
            <item.icon aria-hidden />
            {item.label}
          </Anchor>
        ))}
        <button
          type="button"
          aria-current={isInMore ? "true" : undefined}
          className={entry}
          onClick={() => setOpen(true)}
        >
          <span className="relative">
            <Ellipsis aria-hidden />
            {/* While updates are live, no shape is shown: beside "More", the filled dot would look
                like a mark for something unread. */}
            {state === "live" ? null : (
              <span className="absolute inset-y-0 left-full flex items-center pl-2">
                <LampShape state={state} />
              </span>
            )}
          </span>
          More
        </button>
        <MoreDialog
          open={isOpen}
          onOpenChange={setOpen}
          openPalette={openPalette}
          showKeys={showKeys}
          signOut={signOut}
        />
      </nav>
    </>
  );
}
