import type { Trigger } from "@beckon/client";
import { useMutation } from "@tanstack/react-query";
import { sentenceOf, useWorkspace } from "../../data/index.ts";
import { Spinner, Switch, useToast } from "../../ui/index.ts";
import { useTriggerActions } from "./use-trigger-actions.ts";

interface TriggerSwitchProps {
  readonly trigger: Trigger;
  readonly field: "enabled" | "allows_callback";
  readonly label: string;
  readonly hint?: string;
}

/**
 * A setting of a trigger that is on or off. The switch moves only after the server has confirmed
 * the change.
 */
export function TriggerSwitch({ trigger, field, label, hint }: TriggerSwitchProps) {
  const { whyNot } = useWorkspace();
  const { update } = useTriggerActions(trigger);
  const toast = useToast();
  const { mutate, isPending } = useMutation({
    mutationFn: (isOn: boolean) => update({ [field]: isOn }),
    onError: (thrown) =>
      toast({
        tone: "failure",
        title: `“${label}” was not switched ${trigger[field] ? "off" : "on"}.`,
        description: sentenceOf(thrown),
      }),
  });
  return (
    <span className="inline-flex items-center gap-2">
      {isPending ? <Spinner /> : null}
      <Switch
        label={label}
        hint={hint}
        checked={trigger[field]}
        onChange={({ target }) => mutate(target.checked)}
        pending={isPending}
        disabledReason={whyNot("triggers:write")}
      />
    </span>
  );
}
