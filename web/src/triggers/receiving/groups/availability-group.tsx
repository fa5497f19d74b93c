import { RadioCards } from "../../../ui/index.ts";
import { useReceivingForm } from "../form-context.ts";
import { Group } from "../group.tsx";

const pausedOptions = [
  { value: "refuse", label: "Reject", hint: "Senders that do not repeat lose the event." },
  {
    value: "hold",
    label: "Hold",
    hint: "Runs wait, at most 1,000, and are cancelled after 7 days.",
  },
] as const;

const disabledOptions = [
  { value: "refuse", label: "Reject", hint: "Answers 409." },
  {
    value: "swallow",
    label: "Ignore",
    hint: "Answers as if it were accepted. Senders report no error.",
  },
] as const;

/** What happens while the agent or the trigger is not available. */
export function AvailabilityGroup({ summary }: { readonly summary: string }) {
  const { draft, set, isReadOnly } = useReceivingForm();
  /**
   * Disables all options but the chosen one if the person has no permission to change triggers. The
   * hint is also the reason, because the cards show the reason in place of the hint.
   */
  const locked = <Option extends { readonly value: string; readonly hint: string }>(
    options: readonly Option[],
    value: string,
  ) =>
    options.map((option) =>
      isReadOnly && option.value !== value ? { ...option, disabledReason: option.hint } : option,
    );
  return (
    <Group
      title="While paused or disabled"
      summary={summary}
      paths={["when_paused", "when_disabled"]}
    >
      <RadioCards
        label="While the agent is paused, or a limit is spent"
        columns={2}
        value={draft.whenPaused}
        onChange={(whenPaused) => set({ whenPaused })}
        options={locked(pausedOptions, draft.whenPaused)}
      />
      <RadioCards
        label="While the trigger is disabled"
        columns={2}
        value={draft.whenDisabled}
        onChange={(whenDisabled) => set({ whenDisabled })}
        options={locked(disabledOptions, draft.whenDisabled)}
      />
    </Group>
  );
}
