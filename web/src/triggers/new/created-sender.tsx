import type { CreateTriggerAnswer } from "@beckon/client";
import type { Preset } from "@beckon/contract";
import { useMutation } from "@tanstack/react-query";
import { CopyField, FormDialog, FormError, Link } from "../../ui/index.ts";
import { shortTitle } from "../receiving/short-title.ts";
import { FirstRequest } from "../requests/first-request.tsx";
import { isLocalUrl } from "../sender/is-local-url.ts";
import { LocalUrlBanner } from "../sender/local-url-banner.tsx";
import { SecretInput, useSecretForm } from "../sender/secret-form.tsx";
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
  const generate = useMutation({
    mutationFn: async () => (await set({ grace_seconds: 0 })).secret,
  });
  const form = useSecretForm({ set });
  const shown = secret ?? generate.data;
  const isTyped = preset.secret_from === "sender" && form.saved === undefined;
  const isMissing = preset.secret_from === "receiver" && shown === undefined;
  return (
    <FormDialog
      isDirty={() => form.isDirty}
      close={onClose}
      closeLabel="Done"
      title={`Connect ${shortTitle(preset.title)}`}
      description={`${trigger.name} is ready. You can reveal these values again later, which the audit log records.`}
      onSubmit={() => {
        if (isTyped) form.submit();
        else if (isMissing) generate.mutate();
      }}
      submit={
        isTyped
          ? { label: "Save secret", pending: form.isPending }
          : isMissing
            ? { label: "Generate secret", pending: generate.isPending, pendingText: "Generating…" }
            : undefined
      }
    >
      <CopyField label="URL" value={trigger.url} variant="wrap" />
      {isLocalUrl(trigger.url) ? <LocalUrlBanner /> : null}
      {preset.secret_from === "receiver" && shown !== undefined ? (
        <CopyField label="Secret" value={shown} variant="wrap" />
      ) : null}
      {isMissing ? (
        <FormError error={generate.error ?? "The secret was not generated yet."} />
      ) : null}
      <div className="flex min-w-0 flex-col gap-1">
        <h3 className="text-label font-semibold text-ink-2">Where to enter them</h3>
        <p className="text-pretty">
          {preset.instructions}{" "}
          {preset.url === null ? null : <Link href={preset.url}>Documentation</Link>}
        </p>
      </div>
      {isTyped ? <SecretInput form={form} /> : null}
      {form.saved === undefined ? null : (
        <>
          <p role="status" className="text-moss">
            The secret is saved.
          </p>
          {form.saved.verify_token === null ? null : (
            <CopyField label="Verify token" value={form.saved.verify_token} variant="wrap" />
          )}
        </>
      )}
      <FirstRequest trigger={ids} />
    </FormDialog>
  );
}
