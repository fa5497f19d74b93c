import type { CreateTriggerAnswer } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { Button, IssuedSecretDialog } from "../../ui/index.ts";
import { samplePayloads } from "../input/payload.ts";
import { TestResult } from "../input/test-result.tsx";
import { useTestTrigger } from "../input/use-test-trigger.ts";
import { whyNoRun } from "../permission.ts";

interface CreatedTriggerProps {
  readonly trigger: CreateTriggerAnswer;
  readonly onClose: () => void;
}

/** Shows the URL of a trigger that was just created, with a button for a first test. */
export function CreatedTrigger({ trigger, onClose }: CreatedTriggerProps) {
  const { whyNot } = useWorkspace();
  const test = useTestTrigger(trigger);
  return (
    <IssuedSecretDialog
      title={`${trigger.name} is ready`}
      description="Anyone who knows this URL can start runs, so treat it like a password. You can also reveal it later, which the audit log records."
      label="URL"
      secret={trigger.url}
      onClose={onClose}
      actions={
        <Button
          onClick={() => test.send("json", samplePayloads.json)}
          pending={test.isPending}
          pendingText="Sending…"
          disabledReason={whyNoRun(whyNot)}
        >
          Send test
        </Button>
      }
    >
      <TestResult test={test} />
    </IssuedSecretDialog>
  );
}
