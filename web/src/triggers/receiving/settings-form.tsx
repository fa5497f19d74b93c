import type { Trigger } from "@beckon/client";
import type { Preset, ReceivedRequest } from "@beckon/contract";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import { changesOf, failureOf, useKept, useList, useWorkspace } from "../../data/index.ts";
import { Banner, Button, FormError, isEqual, LeaveGuard, Panel, SaveBar } from "../../ui/index.ts";
import { samplePayloads } from "../input/payload.ts";
import { TestResult } from "../input/test-result.tsx";
import { useTestTrigger } from "../input/use-test-trigger.ts";
import { whyNoRun } from "../permission.ts";
import { storedOutcomes } from "../requests/outcomes.ts";
import { requestQuery, requestsQuery } from "../requests/queries.ts";
import { useTriggerPatch } from "../trigger/use-trigger-patch.tsx";
import { afterSave, type Edited } from "./after-save.ts";
import { changedGroups } from "./changed-groups.ts";
import { type Draft, draftOf } from "./draft.ts";
import { type ReceivingForm, ReceivingFormContext } from "./form-context.ts";
import { AvailabilityGroup } from "./groups/availability-group.tsx";
import { BodiesGroup } from "./groups/bodies-group.tsx";
import { EventsGroup } from "./groups/events-group.tsx";
import { FilterGroup } from "./groups/filter-group.tsx";
import { FormsGroup } from "./groups/forms-group.tsx";
import { InputGroup } from "./groups/input-group.tsx";
import { SenderGroup } from "./groups/sender-group.tsx";
import { VerificationGroup } from "./groups/verification-group.tsx";
import { PreviewPanel } from "./preview-panel.tsx";
import { summariesOf } from "./summaries.ts";
import { currentChoice, type OwnPayload, type TrialChoice, trialOf, withChosen } from "./trial.ts";
import { usePreview } from "./use-preview.ts";
import { check, firstProblemIn, problemAt } from "./validate.ts";

interface SettingsFormProps {
  readonly trigger: Trigger;
  readonly presets: readonly Preset[];
}

const noProblems: ReadonlyMap<string, string> = new Map();

/** The settings of a trigger in groups, beside a preview that changes while they are typed. */
export function SettingsForm({ trigger, presets }: SettingsFormProps) {
  const workspace = useWorkspace();
  const [edited, setEdited] = useState<Edited>();
  const base = edited?.base ?? trigger;
  const saved = useMemo(
    () => draftOf(base.prompt_prefix, base.receiving),
    [base.prompt_prefix, base.receiving],
  );
  const draft = edited?.draft ?? saved;
  const isDirty = !isEqual(draft, saved);
  const checked = useMemo(() => check(draft), [draft]);
  const [hasTried, setHasTried] = useState(false);
  const problems = "problems" in checked ? checked.problems : noProblems;
  // Shown beside Save, because the field with the problem can be in a closed group.
  const firstProblem = firstProblemIn(problems);
  const disabledReason = workspace.whyNot("triggers:write");
  const sent = useRef(draft);
  const patch = useTriggerPatch(trigger, {
    onSaved: (next) => {
      // Changes that were typed while the settings were being saved are kept.
      setEdited((current) => current && afterSave(current, next, sent.current));
      setHasTried(false);
    },
  });
  const warnings = patch.warnings?.version === base.version ? patch.warnings.warnings : [];
  const stopsVerifying =
    draft.isDefault === saved.isDefault &&
    draft.kind === saved.kind &&
    warnings.some(({ part }) => part === "verification");
  const form: ReceivingForm = {
    draft,
    set: (changed) => {
      if (!patch.isSaving) patch.reset();
      const next = { ...draft, ...changed };
      // During a save, an undone edit is kept, because it differs from what was sent.
      const isUndone = !patch.isSaving && isEqual(next, saved);
      setEdited(isUndone ? undefined : { base, draft: next });
    },
    warningAt: (part) =>
      draft[part] === saved[part] ? warnings.find((warning) => warning.part === part) : undefined,
    errorAt: (path) => (hasTried || isDirty ? problemAt(problems, path) : undefined),
    isReadOnly: disabledReason !== undefined,
  };
  const summaries = summariesOf(draft);
  const trial = useTrial(trigger, presets, draft);
  const preview = usePreview(
    trigger,
    "settings" in checked && trial.request !== undefined
      ? { request: trial.request, ...checked.settings }
      : undefined,
  );
  const test = useTestTrigger(trigger);
  return (
    <>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setHasTried(true);
          if (!("settings" in checked)) return;
          sent.current = draft;
          patch.save(base, changesOf(base, checked.settings));
        }}
        className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)] xl:grid-cols-[minmax(0,1fr)_minmax(0,32rem)]"
      >
        <LeaveGuard isDirty={() => isDirty} withinPage />
        <ReceivingFormContext value={form}>
          <Panel title="Settings" padding="none">
            <div className="flex min-w-0 flex-col divide-y divide-rule">
              <SenderGroup presets={presets} />
              <InputGroup summary={summaries.input} mistakes={preview.mistakes} />
              {draft.isDefault ? null : (
                <>
                  <FilterGroup summary={summaries.filter} mistakes={preview.mistakes} />
                  <VerificationGroup summary={summaries.verification} />
                  <EventsGroup summary={summaries.events} />
                  <BodiesGroup summary={summaries.bodies} />
                  <AvailabilityGroup summary={summaries.availability} />
                  <FormsGroup summary={summaries.forms} />
                </>
              )}
            </div>
            {stopsVerifying ? (
              <div className="p-4">
                <Banner tone="warning">
                  Requests are no longer verified, although the trigger has a secret: anyone who
                  knows the URL can start runs. To verify them again, choose the sender.
                </Banner>
              </div>
            ) : null}
            {hasTried && firstProblem !== undefined ? (
              <div className="p-4">
                <FormError error={`The settings were not saved. ${firstProblem}`} />
              </div>
            ) : null}
            {patch.error === null ? null : (
              <div className="p-4">
                <FormError
                  error={failureOf(
                    patch.error,
                    "the settings were saved",
                    "Press Save again: saving them twice does no harm.",
                  )}
                />
              </div>
            )}
            <SaveBar
              state={
                patch.isSaving ? "saving" : isDirty ? "dirty" : patch.isSaved ? "saved" : "clean"
              }
              changed={changedGroups(saved, draft)}
              disabledReason={disabledReason}
              onDiscard={() => {
                patch.reset();
                setEdited(undefined);
                setHasTried(false);
              }}
            />
          </Panel>
        </ReceivingFormContext>
        <div className="min-w-0 lg:sticky lg:top-4">
          <PreviewPanel
            choice={trial.choice}
            onChoose={trial.choose}
            requests={trial.requests}
            preset={trial.preset}
            own={trial.own}
            onOwnChange={trial.setOwn}
            preview={preview.data}
            error={preview.error}
            isStale={"problems" in checked}
          >
            <div className="flex min-w-0 flex-col items-start gap-3">
              <Button
                onClick={() => trial.request && test.sendRequest(trial.request)}
                pending={test.isPending}
                pendingText="Sending…"
                disabledReason={
                  whyNoRun(workspace.whyNot) ??
                  (trigger.enabled ? undefined : "The trigger is disabled. Enable it first.") ??
                  (isDirty ? "Save the settings first: a run uses the saved ones." : undefined)
                }
              >
                Start a run with it
              </Button>
              <div className="w-full min-w-0">
                <TestResult test={test} />
              </div>
            </div>
          </PreviewPanel>
        </div>
      </form>
      {patch.dialog}
    </>
  );
}

/** How many received requests the preview offers. */
const maxOffered = 20;

/** The payload of one's own before it is typed or chosen. */
const unchosen: OwnPayload & { readonly isChosen: boolean } = {
  type: "json",
  text: samplePayloads.json,
  headers: "",
  isChosen: false,
};

/** Returns the request that the preview is made of, and how to choose another one. */
function useTrial(trigger: Trigger, presets: readonly Preset[], draft: Draft) {
  const workspace = useWorkspace();
  const { request: linked } = useSearch({ strict: false }) as { readonly request?: string };
  const [{ isChosen, ...own }, setOwn] = useKept("own payload", trigger.id, unchosen);
  const [chosen, setChosen] = useState(
    linked === undefined ? (isChosen ? "own" : undefined) : `request:${linked}`,
  );
  const [kept, setKept] = useState<ReceivedRequest>();
  const list = useList(requestsQuery(workspace, trigger, {}));
  const linkedRequest = useQuery({
    ...requestQuery(workspace, trigger, linked ?? ""),
    enabled: linked !== undefined,
  });
  const recent = list.rows
    .filter(({ outcome }) => storedOutcomes.includes(outcome))
    .slice(0, maxOffered);
  // The chosen request stays an option when newer ones have arrived. Otherwise the field would show
  // a request other than that of the preview.
  const requests = withChosen(recent, kept, linkedRequest.data);
  const preset = draft.isDefault ? undefined : presets.find(({ name }) => name === draft.preset);
  const choice = currentChoice(chosen, requests, preset);
  const isWaiting = chosen === undefined && list.isPending;
  return {
    choice,
    choose: (next: TrialChoice) => {
      setChosen(next);
      setOwn({ ...own, isChosen: next === "own" });
      setKept(requests.find(({ id }) => next === `request:${id}`));
    },
    requests,
    preset,
    own,
    setOwn: (next: OwnPayload) => setOwn({ ...next, isChosen: true }),
    request: isWaiting ? undefined : trialOf(choice, preset, own),
  };
}
