import { Dialog, Kbd, ScrollRegion, useMedia } from "../../ui/index.ts";
import { useNavigation } from "../navigation/items.ts";

interface KeysDialogProps {
  readonly close: () => void;
}

/** A window in which the list scrolls, so that the keyboard must reach it. */
const smallWindow = "(width < 40rem) or (height < 48rem)";

/** The dialog that lists the keyboard shortcuts. */
export function KeysDialog({ close }: KeysDialogProps) {
  const items = useNavigation();
  const command = /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl";
  const isTooHigh = useMedia(smallWindow);
  const keys: readonly (readonly [string, readonly string[]])[] = [
    ["Find, go and act", [command, "K"]],
    ["Search on this screen", ["/"]],
    ...items.map(({ label, key }) => [`Go to ${label}`, ["g", key]] as const),
    ["Next and previous row", ["j", "k"]],
    ["Next and previous step", ["↓", "↑"]],
    ["First and last step", ["Home", "End"]],
    ["Next failed step", ["]"]],
    ["Open the row or step", ["Enter"]],
    ["Run the message", [command, "Enter"]],
    ["Close", ["Esc"]],
    ["Show this list", ["?"]],
  ];
  const list = (
    <dl className="grid gap-x-8 sm:grid-cols-2">
      {keys.map(([label, combination]) => (
        <div
          key={label}
          className="flex h-row items-center justify-between gap-4 border-rule border-b"
        >
          <dt>{label}</dt>
          <dd className="flex gap-1">
            {combination.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
  return (
    <Dialog
      open
      onOpenChange={close}
      title="Keyboard shortcuts"
      description="Keys without a modifier do nothing while you type. The menu with your name switches them off."
    >
      {isTooHigh ? <ScrollRegion label="Keys">{list}</ScrollRegion> : list}
    </Dialog>
  );
}
