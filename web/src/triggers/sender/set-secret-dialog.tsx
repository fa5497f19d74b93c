import type { Trigger } from "@beckon/client";
import type { Preset } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import {
  Button,
  Dialog,
  FormError,
  IssuedSecretDialog,
  RadioCards,
  useToast,
} from "../../ui/index.ts";
import { SecretForm } from "./secret-form.tsx";
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
    <Dialog
      open
      onOpenChange={close}
      title={isReplaced ? "Replace the secret" : "Set the secret"}
      description="The sender and Beckon share it, so that Beckon can verify what arrives."
      footer={
        <>
          <Button onClick={close}>Cancel</Button>
          {from === "beckon" ? (
            <Button
              variant="primary"
              onClick={() => generate.mutate()}
              pending={generate.isPending}
              pendingText="Generating…"
            >
              Generate secret
            </Button>
          ) : null}
        </>
      }
    >
      <div className="flex flex-col gap-4">
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
        {from === "sender" ? (
          <SecretForm
            trigger={trigger}
            graceSeconds={graceSeconds}
            onSaved={() => {
              toast({ tone: "success", title: "Saved the secret" });
              close();
            }}
          />
        ) : null}
        <FormError error={generate.error} />
      </div>
    </Dialog>
  );
}
