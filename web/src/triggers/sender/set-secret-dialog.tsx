import type { Trigger } from "@beckon/client";
import type { Preset } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { FormDialog, FormError, IssuedSecretDialog, RadioCards, useToast } from "../../ui/index.ts";
import { SecretInput, useSecretForm } from "./secret-form.tsx";
import { useSenderSecret } from "./use-sender-secret.ts";

interface SetSecretDialogProps {
  readonly trigger: Trigger;
  readonly preset: Preset | undefined;
  readonly close: () => void;
}

const graces = [
  { value: "0", label: "Now" },
  { value: "3600", label: "In 1 hour" },
  { value: "86400", label: "In 1 day" },
  { value: "604800", label: "In 7 days" },
] as const;

/** Sets or replaces the secret of a sender. The previous secret can stay valid for some time. */
export function SetSecretDialog({ trigger, preset, close }: SetSecretDialogProps) {
  const { set } = useSenderSecret(trigger);
  const toast = useToast();
  const [from, setFrom] = useState<"beckon" | "sender">(
    preset?.secret_from === "sender" ? "sender" : "beckon",
  );
  const [grace, setGrace] = useState<(typeof graces)[number]["value"]>("0");
  const isReplaced = trigger.sender_secret_set;
  const graceSeconds = isReplaced ? Number(grace) : 0;
  const generate = useMutation({
    mutationFn: () => set({ grace_seconds: graceSeconds }),
  });
  const form = useSecretForm({
    trigger,
    graceSeconds,
    onSaved: () => toast({ tone: "success", title: "Saved the secret" }),
  });
  // The choices cannot be changed while a request is in progress. With another source, the dialog
  // would show the button that is not pending, and could be closed.
  const isPending = generate.isPending || form.isPending;
  if (generate.data !== undefined)
    return (
      <IssuedSecretDialog
        title={`New secret of ${trigger.name}`}
        label="Secret"
        secret={generate.data.secret}
        onClose={close}
      />
    );
  return (
    <FormDialog
      isDirty={() => form.isDirty}
      isSaved={form.saved !== undefined}
      close={close}
      title={isReplaced ? "Replace the secret" : "Set the secret"}
      description="The sender and Beckon share it, so that Beckon can verify what arrives."
      onSubmit={() => (from === "beckon" ? generate.mutate() : form.submit())}
      submit={
        from === "beckon"
          ? { label: "Generate secret", pending: generate.isPending, pendingText: "Generating…" }
          : { label: "Save secret", pending: form.isPending }
      }
    >
      {isReplaced ? (
        <RadioCards
          label="The previous secret stops"
          columns={2}
          density="compact"
          value={grace}
          onChange={setGrace}
          options={graces}
          disabled={isPending}
        />
      ) : null}
      <RadioCards
        label="Where does the new one come from?"
        columns={2}
        value={from}
        onChange={setFrom}
        options={[
          { value: "beckon", label: "Generate one", hint: "You enter it in the sender." },
          { value: "sender", label: "From the sender", hint: "The sender shows it to you." },
        ]}
        disabled={isPending}
      />
      {from === "sender" ? <SecretInput form={form} /> : null}
      <FormError error={generate.error} />
    </FormDialog>
  );
}
