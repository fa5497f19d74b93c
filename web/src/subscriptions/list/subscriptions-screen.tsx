import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useWorkspace } from "../../data/index.ts";
import {
  AllowedDialog,
  Button,
  DataTable,
  lazyPart,
  PageHeader,
  useMedia,
  useShowDialog,
} from "../../ui/index.ts";
import { pollMs } from "../attempt-state.ts";
import { subscriptionsQuery } from "../list-query.ts";
import { useLiveSubscriptions } from "../use-live-subscriptions.ts";
import { subscriptionColumns } from "./columns.tsx";
import { NoSubscriptions } from "./no-subscriptions.tsx";

const NewSubscription = lazyPart(async () => (await import("../form/forms.ts")).NewSubscription);

/** The subscriptions of the workspace, each with its health. */
export function SubscriptionsScreen() {
  const workspace = useWorkspace();
  const navigate = useNavigate();
  const show = useShowDialog();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const subscriptions = useQuery({
    ...subscriptionsQuery(workspace),
    refetchInterval: ({ state }) =>
      pollMs(state.data?.map(({ health }) => health.next_attempt_at) ?? [], Date.now()),
  });
  const { data: rows = [] } = subscriptions;
  useLiveSubscriptions(rows);
  const isNarrow = !useMedia("(min-width: 768px)");
  const disabledReason = workspace.whyNot("subscriptions:write");
  const path = `/w/${workspace.id}/subscriptions`;
  const create = (
    <Button
      variant="primary"
      icon={Plus}
      disabledReason={disabledReason}
      onClick={() => show({ new: "1" })}
    >
      New subscription
    </Button>
  );
  const isEmpty = subscriptions.isSuccess && rows.length === 0;
  return (
    <div className="flex min-w-0 flex-col">
      <title>Subscriptions · Beckon</title>
      <PageHeader title="Subscriptions" actions={isEmpty ? undefined : create}>
        <p className="text-ink-2">
          Your systems that Beckon notifies of events, signed and retried.
        </p>
      </PageHeader>
      <div className="flex min-w-0 flex-col p-4 md:p-6">
        <div className="min-w-0 rounded-control border border-rule bg-sheet">
          <DataTable
            label="Subscriptions"
            density="double"
            columns={subscriptionColumns(isNarrow)}
            rows={rows}
            rowKey={({ id }) => id}
            rowHref={({ id }) => `${path}/${id}`}
            linkColumn="name"
            query={subscriptions}
            empty={<NoSubscriptions action={create} />}
          />
        </div>
      </div>
      {search.new === "1" ? (
        <AllowedDialog isAllowed={disabledReason === undefined}>
          <NewSubscription
            close={(created) =>
              created === undefined
                ? show({})
                : void navigate({ href: `${path}/${created}`, replace: true })
            }
          />
        </AllowedDialog>
      ) : null}
    </div>
  );
}
