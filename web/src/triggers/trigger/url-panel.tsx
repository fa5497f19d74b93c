import type { Trigger } from "@beckon/client";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { useWorkspace } from "../../data/index.ts";
import { Button, Panel, SecretField, Time } from "../../ui/index.ts";
import { callbackTexts } from "../callback-texts.ts";
import { isLocalUrl } from "../sender/is-local-url.ts";
import { LocalUrlBanner } from "../sender/local-url-banner.tsx";
import { RotateUrl } from "./rotate-url.tsx";
import { TriggerSwitch } from "./trigger-switch.tsx";
import { useTriggerActions } from "./use-trigger-actions.ts";

/** The URL that fires the trigger. Only its beginning is visible until it is revealed. */
export function UrlPanel({ trigger }: { readonly trigger: Trigger }) {
  const { whyNot } = useWorkspace();
  const actions = useTriggerActions(trigger);
  const [isRotating, setIsRotating] = useState(false);
  const [rotations, setRotations] = useState(0);
  const [isLocal, setIsLocal] = useState(false);
  const [oldUntil, setOldUntil] = useState<number>();
  const disabledReason = whyNot("triggers:write");
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
        key={rotations}
        label="POST to"
        start="…/api/public/triggers/"
        load={async () => {
          const revealed = await actions.reveal();
          setIsLocal(isLocalUrl(revealed));
          return revealed;
        }}
        hint="Anyone who knows it can start runs. Revealing is recorded in the audit log."
        disabledReason={disabledReason}
      />
      {isLocal ? (
        <div className="pt-3">
          <LocalUrlBanner />
        </div>
      ) : null}
      {oldUntil === undefined ? null : (
        <p className="pt-2 text-dense text-ink-2">
          The previous URL stops <Time value={oldUntil} />.
        </p>
      )}
      <div className="pt-4">
        <TriggerSwitch trigger={trigger} field="allows_callback" {...callbackTexts} />
      </div>
      {isRotating ? (
        <RotateUrl
          trigger={trigger}
          previousUntil={oldUntil}
          onRotated={setOldUntil}
          onClose={() => {
            setIsRotating(false);
            setRotations(rotations + 1);
          }}
        />
      ) : null}
    </Panel>
  );
}
