import { useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useList, useWorkspace } from "../data/index.ts";
import {
  Button,
  LoadMore,
  PageHeader,
  Panel,
  RowsProblem,
  type SearchTexts,
  useChangeSearch,
} from "../ui/index.ts";
import { DemoRow } from "./list/demo-row.tsx";
import { NoProviders } from "./list/no-providers.tsx";
import { ProviderMenu } from "./list/provider-menu.tsx";
import { ProviderRow } from "./list/provider-row.tsx";
import { ProvidersSkeleton } from "./list/providers-skeleton.tsx";
import { ProviderDialogs } from "./provider-dialogs.tsx";
import { providersQuery } from "./queries.ts";

/** The providers of models: the workspace's own, then the operator's. */
export function ProvidersScreen() {
  const workspace = useWorkspace();
  const changeSearch = useChangeSearch();
  const search: SearchTexts = useSearch({ strict: false });
  const providers = useList(providersQuery(workspace));
  const disabledReason = workspace.whyNot("providers:write");
  /** Changes search parameters, and closes the dialog that the URL names. */
  const show = (next: SearchTexts) =>
    changeSearch(
      { new: undefined, edit: undefined, delete: undefined, preset: undefined, ...next },
      { keepsScroll: true },
    );
  const close = () => show({});
  const own = providers.rows.filter(({ origin }) => origin === "workspace");
  const operators = providers.rows.filter(({ origin }) => origin !== "workspace");
  const open = (id: string) => ({
    isOpen: search.models === id,
    onToggle: () => show({ models: search.models === id ? undefined : id }),
  });
  const isEmpty = providers.data !== undefined && own.length === 0;
  const add = (
    <Button
      variant="primary"
      icon={Plus}
      disabledReason={disabledReason}
      onClick={() => show({ new: "1" })}
    >
      Add provider
    </Button>
  );
  return (
    <div className="flex min-w-0 flex-col">
      <title>Providers · Beckon</title>
      <PageHeader title="Providers" actions={isEmpty ? undefined : add}>
        <p className="text-ink-2">Accounts and servers with models for the agents.</p>
      </PageHeader>
      <div className="flex min-w-0 flex-col gap-6 p-4 md:p-6">
        <RowsProblem
          label="Providers"
          query={providers}
          hasRows={providers.rows.length > 0}
          padding="none"
        />
        {providers.isPending ? (
          <ProvidersSkeleton />
        ) : providers.data === undefined ? null : (
          <>
            <Panel title="This workspace" padding="none">
              {isEmpty ? (
                <NoProviders hasOthers={operators.length > 0} action={add} />
              ) : (
                <ul aria-label="Providers of this workspace" className="divide-y divide-rule">
                  {own.map((provider) => (
                    <ProviderRow
                      key={provider.id}
                      provider={provider}
                      {...open(provider.id)}
                      menu={
                        <ProviderMenu
                          provider={provider}
                          edit={() => show({ edit: provider.id })}
                          remove={() => show({ delete: provider.id })}
                        />
                      }
                    />
                  ))}
                </ul>
              )}
            </Panel>
            {providers.hasNextPage ? (
              <LoadMore query={providers} />
            ) : (
              <Panel
                title="This installation"
                description="Set up by the operator of Beckon, who alone changes them."
                padding="none"
              >
                <ul aria-label="Providers of this installation" className="divide-y divide-rule">
                  {operators.map((provider) => (
                    <ProviderRow key={provider.id} provider={provider} {...open(provider.id)} />
                  ))}
                  <DemoRow />
                </ul>
              </Panel>
            )}
          </>
        )}
      </div>
      <ProviderDialogs
        providers={own}
        canWrite={disabledReason === undefined}
        search={search}
        close={close}
      />
    </div>
  );
}
