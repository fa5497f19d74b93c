import type { CreateTriggerAnswer } from "@beckon/client";
import { useState } from "react";
import { CreatedTrigger } from "./created-trigger.tsx";
import { examples } from "./examples.ts";
import { NewTriggerForm } from "./new-trigger-form.tsx";

interface NewTriggerProps {
  /** Id of the example with which the form is filled in. For an unknown id, the form is empty. */
  readonly exampleId: string;
  /** Called when the dialog is closed, with the trigger if one was created. */
  readonly onClose: (created?: CreateTriggerAnswer) => void;
}

/** Asks for the name of a new trigger, then shows its URL. */
export function NewTrigger({ exampleId, onClose }: NewTriggerProps) {
  const [created, setCreated] = useState<CreateTriggerAnswer>();
  if (created !== undefined)
    return <CreatedTrigger trigger={created} onClose={() => onClose(created)} />;
  const example = examples.find(({ id }) => id === exampleId);
  return <NewTriggerForm example={example} onClose={() => onClose()} onCreated={setCreated} />;
}
