import { useRouter } from "@tanstack/react-router";
import { useEffect, useEffectEvent } from "react";
import { tinykeys } from "tinykeys";
import { isSingleKey } from "../../ui/index.ts";
import { useNavigation } from "../navigation/items.ts";

interface KeyActions {
  readonly openPalette: () => void;
  readonly showKeys: () => void;
}

/**
 * Handles the shortcuts that work on every screen. Shortcuts without a modifier do not work in
 * fields, and can be switched off (WCAG 2.1.4).
 */
export function useKeys({ openPalette, showKeys }: KeyActions): void {
  const router = useRouter();
  const items = useNavigation();
  const actions = useEffectEvent((name: "palette" | "keys") =>
    name === "palette" ? openPalette() : showKeys(),
  );
  useEffect(() => {
    const single = (act: () => void) => (event: KeyboardEvent) => {
      if (!isSingleKey(event)) return;
      event.preventDefault();
      act();
    };
    const go = items.map(({ key, href }) => [
      `g ${key}`,
      single(() => void router.navigate({ href })),
    ]);
    return tinykeys(
      window,
      {
        "$mod+KeyK": (event) => {
          event.preventDefault();
          actions("palette");
        },
        // A search field of the screen handles `/` first, and prevents this action.
        "/": single(() => actions("palette")),
        "[Shift]+?": single(() => actions("keys")),
        ...Object.fromEntries(go),
      },
      // The palette can be opened from within fields too. For the other shortcuts, `single` ignores
      // keys that are pressed in fields.
      { ignore: () => false },
    );
  }, [items, router]);
}
