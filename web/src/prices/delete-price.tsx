import type { ModelPrice } from "@beckon/client";
import { useQueryClient } from "@tanstack/react-query";
import { announceChanges, announceIfOutdated, useWorkspace } from "../data/index.ts";
import { ConfirmDialog, useToast } from "../ui/index.ts";
import { pricesKey } from "./queries.ts";

interface DeletePriceProps {
  readonly price: ModelPrice;
  /** Id of the workspace's own price. */
  readonly id: string;
  readonly close: () => void;
}

/** The dialog that confirms the deletion of a price that the workspace set. */
export function DeletePrice({ price, id, close }: DeletePriceProps) {
  const { id: workspaceId, client } = useWorkspace();
  const queryClient = useQueryClient();
  const toast = useToast();
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={`Delete the price of ${price.model}?`}
      effect={
        price.standard === null
          ? "Its price is then unknown, or $0 if its provider is marked as free. Costs that were recorded stay."
          : "It then has the standard price, or $0 if its provider is marked as free. Costs that were recorded stay."
      }
      confirmLabel="Delete price"
      pendingText="Deleting…"
      onConfirm={async () => {
        await client.prices.delete(id);
        toast({ tone: "success", title: `Deleted the price of ${price.model}` });
        void announceChanges(queryClient, pricesKey(workspaceId));
      }}
      onError={(thrown) => void announceIfOutdated(queryClient, thrown, pricesKey(workspaceId))}
    />
  );
}
