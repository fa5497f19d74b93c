import type { Trigger } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { KeyRound, RotateCw } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Banner, Button, Link, lazyPart, Menu, Panel, SecretField, Time } from "../../ui/index.ts";
import { presetsQuery } from "../receiving/queries.ts";
import { shortTitle } from "../receiving/short-title.ts";
import { RotateUrl } from "../trigger/rotate-url.tsx";
import { useTriggerActions } from "../trigger/use-trigger-actions.ts";
import { isLocalUrl } from "./is-local-url.ts";
import { LocalUrlBanner } from "./local-url-banner.tsx";
import { useSenderSecret } from "./use-sender-secret.ts";

const SetSecretDialog = lazyPart(
  async () => (await import("./set-secret-dialog.tsx")).SetSecretDialog,
);

/** What a person enters at the sender: the URL and the secret, with instructions. */
export function ConnectionPanel({ trigger }: { readonly trigger: Trigger }) {
  const workspace = useWorkspace();
  const { data: presets } = useQuery(presetsQuery(workspace));
  const actions = useTriggerActions(trigger);
  const secrets = useSenderSecret(trigger);
  const [open, setOpen] = useState<"url" | "secret">();
  const [oldUrlUntil, setOldUrlUntil] = useState<number>();
  const [oldSecretUntil, setOldSecretUntil] = useState<string | null>(null);
  const [rotations, setRotations] = useState(0);
  const [isLocal, setIsLocal] = useState(false);
  const { receiving } = trigger;
  const preset = presets?.find(({ name }) => name === receiving?.preset);
  const isVerified = receiving !== null && receiving.verification.kind !== "none";
  const hasToken = receiving?.handshake === "meta";
  const hasSecret = isVerified || hasToken;
  const isMissing = hasSecret && !trigger.sender_secret_set;
  const disabledReason = workspace.whyNot("triggers:write");
  const close = () => {
    setOpen(undefined);
    setRotations(rotations + 1);
  };
  return (
    <Panel
      title={preset === undefined ? "Connection" : `Connect ${shortTitle(preset.title)}`}
      actions={
        disabledReason === undefined ? (
          <Menu
            label="Rotate"
            trigger={
              <Button icon={RotateCw} size="small">
                Rotate
              </Button>
            }
            items={[
              { label: "Rotate the URL", onSelect: () => setOpen("url") },
              ...(hasSecret
                ? [{ label: "Replace the secret", onSelect: () => setOpen("secret") }]
                : []),
            ]}
          />
        ) : (
          <Button icon={RotateCw} size="small" disabledReason={disabledReason}>
            Rotate
          </Button>
        )
      }
    >
      <div className="flex min-w-0 flex-col gap-4">
        {isMissing ? (
          <Banner
            tone="warning"
            action={
              <Button
                size="small"
                variant="primary"
                icon={KeyRound}
                onClick={() => setOpen("secret")}
                disabledReason={disabledReason}
              >
                Set the secret
              </Button>
            }
          >
            {isVerified
              ? "No secret is set that fits the verification, so every request is rejected with 401."
              : "No secret is set, so Beckon does not answer Meta's handshake."}
            {hasToken ? " The verify token appears with the secret." : null}
          </Banner>
        ) : null}
        {preset === undefined ? null : (
          <p className="max-w-160 text-ink-2 text-pretty">
            {preset.instructions}{" "}
            {preset.url === null ? null : <Link href={preset.url}>Documentation</Link>}
          </p>
        )}
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-4">
          <SecretField
            // With a new `key` after a rotation, the field no longer shows the old URL.
            key={`url ${rotations}`}
            label="URL"
            start="…/api/public/triggers/"
            load={async () => {
              const revealed = await actions.reveal();
              setIsLocal(isLocalUrl(revealed));
              return revealed;
            }}
            hint="Anyone who knows it can send requests. Revealing is recorded in the audit log."
            disabledReason={disabledReason}
          />
          {isLocal ? <LocalUrlBanner /> : null}
          {oldUrlUntil === undefined ? null : (
            <p className="text-dense text-ink-2">
              The previous URL stops <Time value={oldUrlUntil} />.
            </p>
          )}
          {hasSecret && !isMissing ? (
            <SecretField
              key={`secret ${rotations}`}
              label="Secret"
              load={async () => {
                const { secret, previous_until } = await secrets.reveal();
                // If the response of a replacement was lost, the person now has its secret.
                secrets.release();
                setOldSecretUntil(previous_until);
                return secret;
              }}
              disabledReason={disabledReason}
            />
          ) : null}
          {hasToken && !isMissing ? (
            <SecretField
              label="Verify token"
              load={async () => (await secrets.reveal()).verify_token ?? ""}
              disabledReason={disabledReason}
            />
          ) : null}
        </div>
        {oldSecretUntil === null ? null : (
          <p className="text-dense text-ink-2">
            The previous secret is also accepted. It stops <Time value={oldSecretUntil} />.
          </p>
        )}
      </div>
      {open === "url" ? (
        <RotateUrl
          trigger={trigger}
          previousUntil={oldUrlUntil}
          onRotated={setOldUrlUntil}
          onClose={close}
        />
      ) : null}
      {open === "secret" ? (
        <SetSecretDialog
          trigger={trigger}
          preset={preset}
          close={() => {
            close();
            // The dialog may have replaced the secret, so `oldSecretUntil` can be that of an older
            // secret. The next reveal of the secret reads it again.
            setOldSecretUntil(null);
          }}
        />
      ) : null}
    </Panel>
  );
}
