import type { CreateTriggerAnswer } from "@beckon/client";
import type { Preset, SenderSecrets } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Button, CopyField, Dialog, FormError, Link } from "../../ui/index.ts";
import { shortTitle } from "../receiving/short-title.ts";
import { FirstRequest } from "../requests/first-request.tsx";
import { SecretForm } from "../sender/secret-form.tsx";
import { useSenderSecret } from "../sender/use-sender-secret.ts";

interface CreatedSenderProps {
  readonly trigger: CreateTriggerAnswer;
  readonly preset: Preset;
  /**
   * The secret that Beckon has generated; undefined if the sender generates it, or if Beckon failed
   * to generate it.
   */
  readonly secret: string | undefined;
  readonly onClose: () => void;
}

/** Shows what to enter at the sender of a new trigger, and the first request when it arrives. */
export function CreatedSender({ trigger, preset, secret, onClose }: CreatedSenderProps) {
  const ids = { id: trigger.id, agent_id: trigger.agent_id };
  const { set } = useSenderSecret(ids);
  const generate = useMutation({ mutationFn: async () => (await set({})).secret });
  const [saved, setSaved] = useState<SenderSecrets>();
  const shown = secret ?? generate.data;
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Connect ${shortTitle(preset.title)}`}
      description={`${trigger.name} is ready. You can reveal these values again later, which the audit log records.`}
      footer={
        <Button variant="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <div className="flex min-w-0 flex-col gap-4">
        <CopyField label="URL" value={trigger.url} variant="wrap" />
        {preset.secret_from === "receiver" && shown !== undefined ? (
          <CopyField label="Secret" value={shown} variant="wrap" />
        ) : null}
        {preset.secret_from === "receiver" && shown === undefined ? (
          <div className="flex flex-col items-start gap-2">
            <FormError error={generate.error ?? "The secret was not generated yet."} />
            <Button
              onClick={() => generate.mutate()}
              pending={generate.isPending}
              pendingText="Generating…"
            >
              Generate secret
            </Button>
          </div>
        ) : null}
        <div className="flex min-w-0 flex-col gap-1">
          <h3 className="text-label font-semibold text-ink-2">Where to enter them</h3>
          <p className="text-pretty">
            {preset.instructions}{" "}
            {preset.url === null ? null : <Link href={preset.url}>Documentation</Link>}
          </p>
        </div>
        {preset.secret_from === "sender" ? (
          saved !== undefined ? (
            <>
              <p role="status" className="text-moss">
                The secret is saved.
              </p>
              {saved.verify_token === null ? null : (
                <CopyField label="Verify token" value={saved.verify_token} variant="wrap" />
              )}
            </>
          ) : (
            <SecretForm trigger={ids} onSaved={setSaved} />
          )
        ) : null}
        <FirstRequest trigger={ids} />
      </div>
    </Dialog>
  );
}
