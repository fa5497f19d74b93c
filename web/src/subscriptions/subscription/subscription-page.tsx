import type { Subscription } from "@beckon/client";
import { useWorkspace } from "../../data/index.ts";
import { CopyButton, Id, PageHeader } from "../../ui/index.ts";
import { nameOf } from "../health.ts";
import { HealthMark } from "../health-mark.tsx";
import { ActDialogs } from "./act-dialogs.tsx";
import { DeliveriesPanel } from "./deliveries-panel.tsx";
import { HealthFacts } from "./health-facts.tsx";
import { SecretPanel } from "./secret-panel.tsx";
import { SettingsPanel } from "./settings-panel.tsx";
import { StateNotice } from "./state-notice.tsx";
import { SubscriptionActions } from "./subscription-actions.tsx";

/** The page of a subscription that is loaded. */
export function SubscriptionPage({ subscription }: { readonly subscription: Subscription }) {
  const { id } = useWorkspace();
  const name = nameOf(subscription);
  return (
    <div className="flex min-w-0 flex-col">
      <title>{`${name} · Beckon`}</title>
      <PageHeader
        title={name}
        breadcrumb={[{ label: "Subscriptions", href: `/w/${id}/subscriptions` }]}
        id={
          <>
            <Id value={subscription.id} />
            <CopyButton text={subscription.id} what="subscription id" />
          </>
        }
        status={<HealthMark subscription={subscription} />}
        actions={<SubscriptionActions subscription={subscription} />}
      >
        <HealthFacts subscription={subscription} />
      </PageHeader>
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        <StateNotice subscription={subscription} />
        <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] xl:grid-cols-[minmax(0,1fr)_26rem]">
          <DeliveriesPanel subscription={subscription} />
          <div className="flex min-w-0 flex-col gap-4">
            <SettingsPanel subscription={subscription} />
            <SecretPanel subscription={subscription} />
          </div>
        </div>
      </div>
      <ActDialogs subscription={subscription} />
    </div>
  );
}
