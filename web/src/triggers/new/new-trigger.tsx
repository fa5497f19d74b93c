import type { CreateTriggerAnswer } from "@beckon/client";
import { useState } from "react";
import { CreatedSender } from "./created-sender.tsx";
import { CreatedTrigger } from "./created-trigger.tsx";
import { examples } from "./examples.ts";
import { type Created, NewTriggerForm } from "./new-trigger-form.tsx";

interface NewTriggerProps {
  /** Id of the example with which the form is filled in. For an unknown id, the form is empty. */
  readonly exampleId: string;
  /** Called when the dialog is closed, with the trigger if one was created. */
  readonly onClose: (created?: CreateTriggerAnswer) => void;
}

/** Asks for the sender and the name of a new trigger, then shows what to enter at the sender. */
export function NewTrigger({ exampleId, onClose }: NewTriggerProps) {
  const [created, setCreated] = useState<Created>();
  const example = examples.find(({ id }) => id === exampleId);
  if (created === undefined)
    return <NewTriggerForm example={example} onClose={() => onClose()} onCreated={setCreated} />;
  const { trigger, preset, secret } = created;
  const close = () => onClose(trigger);
  if (preset === undefined) return <CreatedTrigger trigger={trigger} onClose={close} />;
  return <CreatedSender trigger={trigger} preset={preset} secret={secret} onClose={close} />;
}
