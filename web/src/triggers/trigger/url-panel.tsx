import type { Trigger } from "@beckon/client";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import {
  Button,
  IssuedSecretDialog,
  Panel,
  RotateDialog,
  SecretField,
  Time,
} from "../../ui/index.ts";
import { callbackTexts } from "../callback-texts.ts";
import { needsEditor } from "../permission.ts";
import { TriggerSwitch } from "./trigger-switch.tsx";
import { useTriggerActions } from "./use-trigger-actions.ts";

/** The URL that fires the trigger. Only its beginning is visible until it is revealed. */
export function UrlPanel({ trigger }: { readonly trigger: Trigger }) {
  const { can } = useWorkspace();
  const actions = useTriggerActions(trigger);
  const [isRotating, setIsRotating] = useState(false);
  const [issued, setIssued] = useState<string>();
  const [oldUntil, setOldUntil] = useState<number>();
  const disabledReason = needsEditor(can);
  return (
    <Panel
      title="URL"
      actions={
        <Button
          icon={RotateCw}
          size="small"
          onClick={() => setIsRotating(true)}
          disabledReason={disabledReason}
        >
          Rotate
        </Button>
      }
    >
      {/* With a new `key` after a rotation, the field is reset, so that it no longer shows the old
          URL. */}
      <SecretField
        key={issued}
        label="POST to"
        start={`${location.origin}/api/public/triggers/`}
        load={actions.reveal}
        hint="Whoever knows it can start runs. Revealing is recorded in the audit log."
        disabledReason={disabledReason}
      />
      {oldUntil === undefined ? null : (
        <p className="pt-2 text-dense text-ink-2">
          The previous URL stops <Time value={oldUntil} />.
        </p>
      )}
      <div className="pt-4">
        <TriggerSwitch trigger={trigger} field="allows_callback" {...callbackTexts} />
      </div>
      {isRotating ? (
        <RotateDialog
          title={`Rotate the URL of ${trigger.name}?`}
          effect="Beckon issues a new URL. What is posted to the old one is rejected from the time that you choose."
          label="The old URL stops"
          confirmLabel="Rotate URL"
          onClose={() => setIsRotating(false)}
          onRotate={async (graceSeconds) => {
            setIssued(await actions.rotate(graceSeconds));
            setOldUntil(graceSeconds === 0 ? undefined : Date.now() + graceSeconds * 1_000);
            setIsRotating(false);
          }}
        />
      ) : null}
      {issued === undefined ? null : (
        <IssuedSecretDialog
          title={`New URL of ${trigger.name}`}
          label="URL"
          secret={issued}
          onClose={() => setIssued(undefined)}
        />
      )}
    </Panel>
  );
}
