import type { Trigger } from "@beckon/client";
import type { Preset } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import {
  FormDialog,
  FormError,
  FormPendingContext,
  IssuedSecretDialog,
  RadioCards,
  UnknownRotation,
  useToast,
} from "../../ui/index.ts";
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
];

/** Sets or replaces the secret of a sender. The previous secret can stay valid for some time. */
export function SetSecretDialog({ trigger, preset, close }: SetSecretDialogProps) {
  const { set, unknown } = useSenderSecret(trigger);
  const toast = useToast();
  const [from, setFrom] = useState(
    unknown?.from ?? (preset?.secret_from === "sender" ? "sender" : "beckon"),
  );
  const [grace, setGrace] = useState(String(unknown?.graceSeconds ?? 0));
  const isReplaced = trigger.sender_secret_set;
  const graceSeconds = isReplaced ? Number(grace) : 0;
  const generate = useMutation({
    mutationFn: () => set({ grace_seconds: graceSeconds }),
  });
  const form = useSecretForm({
    set,
    graceSeconds,
    onSaved: () => toast({ tone: "success", title: "Saved the secret" }),
  });
  // While an outcome is unknown, only the same request can be repeated.
  const isLocked = generate.isPending || form.isPending || unknown !== undefined;
  const label = from === "beckon" ? "Generate secret" : "Save secret";
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
          ? { label, pending: generate.isPending, pendingText: "Generating…" }
          : { label, pending: form.isPending }
      }
    >
      {unknown === undefined ? null : <UnknownRotation confirmLabel={label} />}
      <FormPendingContext value={isLocked}>
        {isReplaced ? (
          <RadioCards
            label="The previous secret stops"
            columns={2}
            density="compact"
            value={grace}
            onChange={setGrace}
            options={graces}
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
        />
      </FormPendingContext>
      {from === "sender" ? <SecretInput form={form} /> : null}
      <FormError error={generate.error} />
    </FormDialog>
  );
}
