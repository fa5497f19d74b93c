import { useBlocker } from "@tanstack/react-router";
import { useFormState } from "react-hook-form";
import { useMe } from "../../data/index.ts";
import { ConfirmDialog, useUnsaved } from "../../ui/index.ts";
import { useAgentId } from "../queries.ts";
import { readDraft } from "./draft-store.ts";
import type { FormValues } from "./form-values.ts";
import { useSettings } from "./settings-context.tsx";
import { hasNewSecret } from "./tools/secrets.ts";

/**
 * Asks for confirmation before a person leaves unsaved settings. `SettingsFrame` keeps them while a
 * person goes from the playground to the settings or back, so this needs no confirmation.
 */
export function LeaveSettingsGuard() {
  const agentId = useAgentId();
  const { id: userId } = useMe();
  const { form } = useSettings();
  const { isDirty } = useFormState<FormValues>();
  useUnsaved(() => isDirty);
  const effect = () => {
    if (readDraft(userId, agentId) === undefined)
      return "Your changes are lost: the browser has no storage left for them.";
    const secrets = form.getValues("tools").some(hasNewSecret)
      ? ", but the new secrets are lost"
      : "";
    return `Your changes stay in this tab until you close it or sign out${secrets}.`;
  };
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ next }) =>
      isDirty && !new RegExp(`/agents/${agentId}/(playground|settings)$`).test(next.pathname),
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={status === "blocked"}
      onOpenChange={(open) => {
        if (!open) reset?.();
      }}
      title="Leave without saving?"
      effect={effect()}
      confirmLabel="Leave"
      danger={false}
      onConfirm={() => proceed?.()}
    />
  );
}
