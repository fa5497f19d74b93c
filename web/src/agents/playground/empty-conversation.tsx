import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useFormContext, useWatch } from "react-hook-form";
import { useWorkspace } from "../../data/index.ts";
import { modelsQuery, ProviderHelp } from "../../providers/index.ts";
import { Button } from "../../ui/index.ts";
import type { FormValues } from "../settings/form-values.ts";
import { useSettings } from "../settings/settings-context.tsx";

interface EmptyConversationProps {
  /** Fills in a suggested message; undefined for people who cannot run the agent. */
  readonly onSuggest: ((message: string) => void) | undefined;
}

/** Shown in the conversation before the first message. */
export function EmptyConversation({ onSuggest }: EmptyConversationProps) {
  const { control, setValue } = useFormContext<FormValues>();
  const { disabledReason } = useSettings();
  const [model, tools] = useWatch({ control, name: ["model", "tools"] });
  const { data: lists = [] } = useQuery(modelsQuery(useWorkspace()));
  const hasClock = tools.some(({ type }) => type === "clock");
  const suggestion = hasClock ? "/call clock {}" : "Hello, Beckon!";
  const isDemo = model === "demo/echo";
  const hasProvider = lists.length === 0 || lists.some(({ origin }) => origin === "workspace");
  // The help stays after it has added a provider, because its dialog then checks the provider.
  const [wasHelping, setHelping] = useState(false);
  const isHelping = isDemo && (wasHelping || !hasProvider);
  if (isHelping !== wasHelping) setHelping(isHelping);
  return (
    <div className="mx-auto flex max-w-140 flex-col gap-6 py-6">
      <div className="flex flex-col items-center gap-4 text-center">
        <p className="max-w-100 text-ink-2 text-balance">
          {isDemo
            ? "This agent uses the demo model. It repeats your message, or calls a tool if the message says so."
            : "Send a message to see what the agent answers, which tools it calls and what that costs."}
        </p>
        {isDemo && onSuggest !== undefined ? (
          <Button onClick={() => onSuggest(suggestion)}>
            Try <span className="font-mono text-dense">{suggestion}</span>
          </Button>
        ) : null}
      </div>
      {isHelping ? (
        <ProviderHelp
          current={model}
          onUse={(chosen) => setValue("model", chosen, { shouldDirty: true })}
          disabledReason={disabledReason}
        />
      ) : null}
    </div>
  );
}
