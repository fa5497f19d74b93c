import type { ModelList } from "@beckon/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useWatch } from "react-hook-form";
import { sentenceOf, useWorkspace } from "../../../data/index.ts";
import { formatCounted, isUnchecked } from "../../../format/index.ts";
import { AddProvider, modelsQuery } from "../../../providers/index.ts";
import { Banner, Button } from "../../../ui/index.ts";
import { providerOf } from "../../model/models.ts";
import { useAgent } from "../../queries.ts";
import type { FormValues } from "../form-values.ts";
import { EarlierProvider } from "./earlier-provider.tsx";

/**
 * Shown if the provider of the chosen model is missing, is not the one that the agent uses, or does
 * not list its models.
 */
export function ProviderNotice() {
  const workspace = useWorkspace();
  const [isAdding, setAdding] = useState(false);
  const agent = useAgent();
  const model = useWatch<FormValues, "model">({ name: "model" });
  const { data: lists } = useQuery(modelsQuery(workspace));
  const name = providerOf(model);
  const list = lists?.find(({ provider }) => provider === name);
  return (
    <>
      {lists === undefined || name === "" ? null : list === undefined ? (
        <Banner
          tone="warning"
          action={
            workspace.can("providers:write") ? (
              <Button size="small" onClick={() => setAdding(true)}>
                Add provider
              </Button>
            ) : undefined
          }
        >
          {`There is no provider “${name}” in this workspace.`}
        </Banner>
      ) : model === agent.model && providerIdOf(list) !== agent.provider_id ? (
        <EarlierProvider agent={agent} />
      ) : list.error === null ? null : (
        <FailedList key={list.provider_id} list={list} error={list.error} />
      )}
      {/* The dialog stays after the provider was added, because it then checks the provider. */}
      <AddProvider open={isAdding} close={() => setAdding(false)} />
    </>
  );
}

/** Returns the `provider_id` of agents that use the provider. */
const providerIdOf = ({ origin, provider_id: id }: ModelList) =>
  origin === "workspace" ? id : null;

interface FailedListProps {
  readonly list: ModelList;
  readonly error: string;
}

/** Says why a provider does not list its models, and checks it again. */
function FailedList({ list: { provider, provider_id: providerId }, error }: FailedListProps) {
  const workspace = useWorkspace();
  const { refetch } = useQuery(modelsQuery(workspace));
  const check = useMutation({
    mutationFn: (id: string) => workspace.client.providers.check(id),
    onSuccess: () => refetch(),
  });
  const outcome = outcomeOf(check) ?? error;
  return (
    <Banner
      tone="warning"
      action={
        providerId !== null && workspace.can("providers:write") ? (
          <Button
            size="small"
            onClick={() => check.mutate(providerId)}
            pending={check.isPending}
            pendingText="Checking…"
          >
            Check
          </Button>
        ) : undefined
      }
    >
      {isUnchecked(outcome)
        ? outcome.replace(/^It/, provider)
        : `${provider} does not list its models. ${outcome}`}
    </Banner>
  );
}

function outcomeOf({
  data,
  error,
}: {
  data: { works: boolean; models: readonly string[]; error: string | null } | undefined;
  error: Error | null;
}): string | undefined {
  if (error !== null) return sentenceOf(error);
  if (data === undefined) return undefined;
  return data.works
    ? `It works now and has ${formatCounted(data.models.length, "model")}.`
    : (data.error ?? undefined);
}
