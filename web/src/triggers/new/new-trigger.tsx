import type { CreateTriggerAnswer } from "@beckon/client";
import { useState } from "react";
import { CreatedTrigger } from "./created-trigger.tsx";
import { examples } from "./examples.ts";
import { NewTriggerForm } from "./new-trigger-form.tsx";

interface NewTriggerProps {
  /** The example that the form is filled in with; an unknown one leaves it blank. */
  readonly exampleId: string;
  /** Called with the trigger if one was created. */
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
