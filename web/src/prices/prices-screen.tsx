import { useSearch } from "@tanstack/react-router";
import { useList, useWorkspace } from "../data/index.ts";
import {
  AllowedDialog,
  DataTable,
  EmptyState,
  LinkButton,
  PageHeader,
  useMedia,
  useOpenedRow,
  useShowDialog,
} from "../ui/index.ts";
import { DeletePrice } from "./delete-price.tsx";
import { priceColumns } from "./price-columns.tsx";
import { PriceForm } from "./price-form.tsx";
import { pricesQuery } from "./queries.ts";
import { hasSecondLine } from "./rates.tsx";

/** The prices of the models that the workspace's agents use. */
export function PricesScreen() {
  const workspace = useWorkspace();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const prices = useList(pricesQuery(workspace));
  const show = useShowDialog();
  const close = () => show({});
  const isNarrow = !useMedia("(min-width: 768px)");
  // The operator can have a provider of the same name, so the same model can have two rows. Only
  // the price of the workspace's own provider can be changed.
  const own = prices.rows.find(
    ({ model, provider_id }) => model === search.model && provider_id !== null,
  );
  const opened = useOpenedRow(search.model, own);
  const named = search.act === "delete" ? own : opened;
  return (
    <div className="flex min-w-0 flex-col">
      <title>Prices · Beckon</title>
      <PageHeader title="Prices">
        <p className="text-ink-2">
          What 1,000,000 tokens of each model cost. Where a limit in money applies, a model without
          a known price is not called.
        </p>
      </PageHeader>
      <div className="flex min-w-0 flex-col p-4 md:p-6">
        <div className="min-w-0 rounded-control border border-rule bg-sheet">
          <DataTable
            label="Prices"
            density={isNarrow || prices.rows.some(hasSecondLine) ? "double" : "normal"}
            columns={priceColumns(isNarrow, ({ model }, act) => show({ model, act }))}
            rows={prices.rows}
            rowKey={({ model, provider_id }) => `${provider_id ?? ""} ${model}`}
            query={prices}
            empty={
              <EmptyState
                action={<LinkButton href={`/w/${workspace.id}/agents`}>Open agents</LinkButton>}
              >
                The models of the workspace's agents are listed here, each with its price.
              </EmptyState>
            }
          />
        </div>
      </div>
      {named === undefined ? null : (
        <AllowedDialog key={named.model} isAllowed={workspace.can("limits:write")}>
          {search.act !== "delete" ? (
            <PriceForm price={named} close={close} />
          ) : named.id === null ? null : (
            <DeletePrice price={named} id={named.id} close={close} />
          )}
        </AllowedDialog>
      )}
    </div>
  );
}
