import type { Provider } from "@beckon/client";
import { useEffect } from "react";
import { Button, Dialog, Problem, Spinner, StatusMark } from "../../ui/index.ts";
import { ProviderModels } from "../state/provider-models.tsx";
import { ProviderProblem } from "../state/provider-problem.tsx";
import { StateMark } from "../state/state-mark.tsx";
import { useCheck } from "../state/use-check.ts";

interface CheckDialogProps {
  readonly provider: Provider;
  readonly title: string;
  readonly edit: () => void;
  readonly close: () => void;
}

/** Checks a provider that was just added or changed, and shows its models or the problem. */
export function CheckDialog({ provider, title, edit, close }: CheckDialogProps) {
  const { state, check, isChecking, error, isIdle } = useCheck(provider);
  // The check starts when the dialog opens, because a person who has saved a provider wants to see
  // whether it works.
  // biome-ignore lint/correctness/useExhaustiveDependencies: `check` is new in each render
  useEffect(() => check(), [provider.updated_at]);
  const isWaiting = isChecking || isIdle;
  return (
    <Dialog
      open
      onOpenChange={close}
      title={title}
      footer={
        <>
          <Button onClick={edit}>Edit</Button>
          <Button onClick={check} pending={isWaiting} pendingText="Checking…">
            Check again
          </Button>
          <Button variant="primary" onClick={close}>
            Done
          </Button>
        </>
      }
    >
      <div aria-live="polite" className="flex min-h-24 flex-col gap-3">
        {isWaiting ? (
          <p className="flex items-center gap-2 text-ink-2">
            <Spinner />
            Checking it: Beckon asks for its list of models.
          </p>
        ) : error !== null ? (
          <Problem error={error} title="The provider could not be checked." />
        ) : state.name === "works" ? (
          <>
            <StateMark state={state} />
            <ProviderModels provider={provider.name} models={state.models} />
          </>
        ) : state.name === "fails" || state.name === "unchecked" ? (
          <>
            {state.name === "fails" ? (
              <StatusMark status="failed" word="Saved, but it does not work yet" />
            ) : (
              <StatusMark status="unknown" word="Saved, but not checked" />
            )}
            <ProviderProblem message={state.error} isOwn hasKey={provider.api_key_last4 !== null} />
          </>
        ) : null}
      </div>
    </Dialog>
  );
}
