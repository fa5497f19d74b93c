import type { Provider } from "@beckon/client";
import type { ReactNode } from "react";
import { toServerTime, useWorkspace } from "../../data/index.ts";
import { Badge, Button, Problem, Time } from "../../ui/index.ts";
import { originLabel } from "../origin.ts";
import { ProviderModels } from "../state/provider-models.tsx";
import { ProviderProblem } from "../state/provider-problem.tsx";
import { StateMark } from "../state/state-mark.tsx";
import { useCheck } from "../state/use-check.ts";
import { ModelsButton } from "./models-button.tsx";
import { ProviderFacts } from "./provider-facts.tsx";
import { rowLook } from "./row-look.ts";

interface ProviderRowProps {
  readonly provider: Provider;
  /** Whether the models are listed below. */
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  /** The menu with further actions. Default: none. */
  readonly menu?: ReactNode;
}

/** A provider with its state and its actions. Below that, its error or its models are shown. */
export function ProviderRow({ provider, isOpen, onToggle, menu }: ProviderRowProps) {
  const { whyNot } = useWorkspace();
  const { state, check, isChecking, error } = useCheck(provider);
  const origin = originLabel(provider.origin);
  const isOwn = provider.origin === "workspace";
  return (
    <li className="flex min-w-0 flex-col gap-3 px-4 py-3" aria-label={provider.name}>
      <div className={rowLook}>
        <div className="col-span-2 flex min-w-0 flex-col gap-0.5 lg:col-span-1">
          <div className="flex min-w-0 items-center gap-2">
            <h3 className="truncate font-mono font-semibold" title={provider.name}>
              {provider.name}
            </h3>
            {origin === undefined ? null : <Badge>{origin}</Badge>}
          </div>
          <ProviderFacts provider={provider} />
        </div>
        <div aria-live="polite" className="flex min-w-0 flex-col items-start">
          <StateMark state={state} />
          {"atMs" in state ? (
            <span className="pl-5.5 text-label text-ink-3">
              Checked <Time value={toServerTime(state.atMs)} />
            </span>
          ) : null}
        </div>
        <div className="flex items-center justify-end gap-2">
          <ModelsButton
            provider={provider.name}
            state={state}
            isOpen={isOpen}
            onToggle={onToggle}
          />
          <Button
            size="small"
            onClick={check}
            pending={isChecking}
            pendingText="Checking…"
            disabledReason={whyNot("providers:write")}
            aria-label={`Check ${provider.name}`}
          >
            Check
          </Button>
          {menu ?? <span className="w-control-small max-lg:hidden" />}
        </div>
      </div>
      {error === null ? null : <Problem error={error} title="The provider could not be checked." />}
      {state.name === "fails" || state.name === "unchecked" ? (
        <ProviderProblem
          message={state.error}
          isOwn={isOwn}
          hasKey={provider.api_key_last4 !== null}
        />
      ) : null}
      {state.name === "replaced" ? (
        <p className="text-ink-2">
          New and changed agents use the workspace's own provider of this name. Agents that used
          this one before keep it until they are changed, and so do their duplicates.
        </p>
      ) : null}
      {isOpen && state.name === "works" ? (
        <ProviderModels provider={provider.name} models={state.models} />
      ) : null}
    </li>
  );
}
