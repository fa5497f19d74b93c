import type { Trigger } from "@beckon/client";
import { useState } from "react";
import { useKept, useWorkspace } from "../../data/index.ts";
import { Button, CodeBlock, Panel } from "../../ui/index.ts";
import { whyNoRun } from "../permission.ts";
import { InputPreview } from "./input-preview.tsx";
import { curlOf, payloadProblem, samplePayloads } from "./payload.ts";
import { PayloadEditor } from "./payload-editor.tsx";
import { PrefixForm, type TypedPrefix } from "./prefix-form.tsx";
import { TestResult } from "./test-result.tsx";
import { usePayloadType } from "./use-payload-type.ts";
import { useTestTrigger } from "./use-test-trigger.ts";

/**
 * Shows how the trigger creates an input: the prefix, an example payload, and the resulting input.
 */
export function InputPanel({ trigger }: { readonly trigger: Trigger }) {
  const { whyNot } = useWorkspace();
  const test = useTestTrigger(trigger);
  const [typed, setTyped] = useKept<TypedPrefix | null>("prefix", trigger.id, null);
  const prefix = typed?.prefix ?? trigger.prompt_prefix;
  const [type, setType] = usePayloadType();
  const [payloads, setPayloads] = useKept("payloads", trigger.id, samplePayloads);
  const [hasTried, setHasTried] = useState(false);
  const payload = payloads[type];
  const problem = payloadProblem(type, payload, trigger.prompt_prefix);
  const send = () => {
    setHasTried(true);
    if (problem === undefined) test.send(type, payload);
    else document.getElementById("payload")?.focus();
  };
  return (
    <Panel title="Input">
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-x-6 gap-y-5 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-5">
          <PrefixForm trigger={trigger} typed={typed} onEdit={setTyped} />
          <PayloadEditor
            type={type}
            onTypeChange={setType}
            value={payload}
            onChange={(text) => setPayloads({ ...payloads, [type]: text })}
            error={hasTried ? problem : undefined}
          />
          <div className="flex flex-col items-start gap-3">
            <Button
              variant="primary"
              onClick={send}
              pending={test.isPending}
              pendingText="Sending…"
              disabledReason={
                whyNoRun(whyNot) ??
                (trigger.enabled ? undefined : "The trigger is disabled. Enable it first.") ??
                (prefix === trigger.prompt_prefix
                  ? undefined
                  : "Save the prefix first: a test uses the saved one.")
              }
            >
              Send test
            </Button>
            <div className="w-full min-w-0">
              <TestResult test={test} />
            </div>
          </div>
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <InputPreview prefix={prefix} type={type} payload={payload} />
          <div className="flex min-w-0 flex-col gap-1">
            <h3 className="text-label font-semibold text-ink-2">The same with curl</h3>
            <CodeBlock code={curlOf(type, payload)} label="curl command" />
            <p className="text-label text-ink-3">
              Set <code className="font-mono">BECKON_TRIGGER_URL</code> to the URL above.
            </p>
          </div>
        </div>
      </div>
    </Panel>
  );
}
