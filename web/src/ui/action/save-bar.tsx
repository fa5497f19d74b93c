import { Button } from "./button.tsx";

/** What is known about the form: only a 2xx response makes it `saved`. */
export type SaveState = "clean" | "dirty" | "saving" | "saved";

interface SaveBarProps {
  readonly state: SaveState;
  /** Verb of the button, "Save" unless given. */
  readonly saveLabel?: string;
  /** Shown after the 2xx: "Saved v13". */
  readonly savedText?: string;
  /** Called by the button; leave it out inside a form, where the button submits. */
  readonly onSave?: (() => void) | undefined;
  readonly onDiscard?: (() => void) | undefined;
  readonly disabledReason?: string | undefined;
  /** `wide` in a pane or page whose content is as far from the edge as its header. */
  readonly padding?: "normal" | "wide";
}

/**
 * The bar below a form: what is unsaved, Discard, Save. Sticks to the bottom of its container, on
 * phones above the navigation.
 */
export function SaveBar({
  state,
  saveLabel = "Save",
  savedText = "Saved",
  onSave,
  onDiscard,
  disabledReason,
  padding = "normal",
}: SaveBarProps) {
  const words = { clean: "", dirty: "Unsaved changes", saving: "", saved: savedText };
  return (
    <div
      className={`sticky bottom-14 z-10 flex min-h-12 items-center gap-2 rounded-b-control border-t border-rule bg-sheet px-4 py-2 md:bottom-0 ${padding === "wide" ? "md:px-6" : ""}`}
    >
      <p
        role="status"
        className={`min-w-0 flex-1 truncate text-dense ${state === "saved" ? "text-moss" : "text-ink-2"}`}
      >
        {words[state]}
      </p>
      {onDiscard !== undefined && state === "dirty" ? (
        <Button variant="quiet" onClick={onDiscard}>
          Discard
        </Button>
      ) : null}
      <Button
        variant="primary"
        type={onSave === undefined ? "submit" : "button"}
        onClick={onSave}
        pending={state === "saving"}
        disabled={state === "clean" || state === "saved"}
        disabledReason={disabledReason}
      >
        {saveLabel}
      </Button>
    </div>
  );
}
