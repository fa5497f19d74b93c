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
 * Maximum time between `g` and the key after it, in milliseconds. The default of tinykeys, a
 * second, is too short for people who search for the second key (WCAG 2.2.1), and for a page that
 * is busy.
 */
const maxBetweenKeysMs = 3_000;

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
  const go = useEffectEvent((key: string) => {
    const href = items.find((item) => item.key === key)?.href;
    if (href !== undefined) void router.navigate({ href });
  });
  // The effect depends on this string. If it depended on `items`, which is a new array in each
  // rendering, it would subscribe again each time, and forget that `g` was pressed.
  const keys = items.map(({ key }) => key).join("");
  useEffect(() => {
    const single = (act: () => void) => (event: KeyboardEvent) => {
      if (!isSingleKey(event)) return;
      event.preventDefault();
      act();
    };
    const openByLetter = (event: KeyboardEvent) => {
      event.preventDefault();
      actions("palette");
    };
    // The palette can be opened from within fields too. For the other shortcuts, `single` ignores
    // keys that are pressed in fields.
    const options = { ignore: () => false, timeout: maxBetweenKeysMs };
    const removeScreens = tinykeys(
      window,
      Object.fromEntries([...keys].map((key) => [`g ${key}`, single(() => go(key))])),
      // K alone moves the focus in a table. After `g`, K belongs to a shortcut. So these handlers
      // run in the capture phase, before the table's handler.
      { ...options, capture: true },
    );
    const removeOthers = tinykeys(
      window,
      {
        "$mod+k": openByLetter,
        // Layouts of other scripts, such as Cyrillic, have no letter K. Only there, the position of
        // the key counts: Colemak has E at this position.
        "$mod+KeyK": (event) => {
          if (event.key > "~") openByLetter(event);
        },
        // A search field of the screen handles `/` first, and prevents this action.
        "/": single(() => actions("palette")),
        "[Shift]+?": single(() => actions("keys")),
      },
      options,
    );
    return () => {
      removeScreens();
      removeOthers();
    };
  }, [keys]);
}
